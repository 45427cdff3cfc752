"""The rooms keep to themselves: layers, private names, one name for one thing, the public API."""

import ast
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "refold"
MODULES = sorted(SOURCE.rglob("*.py"))

# Runs the contracts of pyproject.toml on a copy of the package instead of the installed one.
LINT_A_COPY = """
import sys
sys.meta_path = [f for f in sys.meta_path if "editable" not in type(f).__module__]
sys.path.insert(0, sys.argv[1])
from importlinter.cli import lint_imports
sys.exit(lint_imports(config_filename=sys.argv[2], no_cache=True))
"""


def lint(folder):
    command = [sys.executable, "-c", LINT_A_COPY, str(folder), str(ROOT / "pyproject.toml")]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


@pytest.fixture
def copy(tmp_path):
    python_only = shutil.ignore_patterns("*.cpp", "*.hpp", "*.so", "__pycache__")
    shutil.copytree(SOURCE, tmp_path / "refold", ignore=python_only)
    return tmp_path


def test_imports_point_downwards(copy):
    done = lint(copy)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("base/errors.py", "from refold.algorithm import folds"),
        ("decisions/thresholds.py", "from refold import model_selection"),
        ("models/ref.py", "def later():\n    from refold.judgement import Judge"),
        ("cards/_card.py", "import refold.cli"),
        ("cli/score.py", "import refold.integrations.mlflow"),
        ("new_room.py", '"""A room that has no floor yet."""'),
    ],
)
def test_a_crossed_layer_fails_the_lint(copy, room, line):
    with (copy / "refold" / room).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    done = lint(copy)
    assert done.returncode != 0
    assert "BROKEN" in done.stdout or "new_room" in done.stdout


def private_imports(path, text):
    """Private names that a module imports from another room."""
    room = path.relative_to(SOURCE).parts[0]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("refold"):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("refold.")]
        else:
            continue
        for name in names:
            _, *parts = name.split(".")
            foreign = bool(parts) and parts[0] not in (room, "_typing")
            if foreign and any(p.startswith("_") and not p.endswith("__") for p in parts):
                yield name


def test_private_names_stay_in_their_room():
    found = {
        str(path.relative_to(SOURCE)): names
        for path in MODULES
        if (names := list(private_imports(path, path.read_text(encoding="utf-8"))))
    }
    assert found == {}


def test_the_check_of_private_names_finds_them():
    text = (
        "from refold.creased._sums import Sums\nfrom refold.tabular import _x\nimport refold._y.z"
    )
    assert len(list(private_imports(SOURCE / "cli" / "score.py", text))) == 3
    own = "from refold.cli.options import note\nfrom refold._typing import Floats"
    assert list(private_imports(SOURCE / "cli" / "score.py", own)) == []


def test_an_underscore_says_that_only_its_own_room_imports_a_module():
    """Users import from some rooms: a module of these that is not for others has an underscore."""
    api = (Path(__file__).with_name("public_api.txt")).read_text().splitlines()
    public = {line.partition("(")[0].rpartition(".")[0] for line in api}
    rooms = {name.split(".")[1] for name in public if "." in name}
    wrong = []
    for path in MODULES:
        room, *inner = path.relative_to(SOURCE).with_suffix("").parts
        if not inner or inner[-1] == "__init__":
            continue
        name = ".".join(("refold", room, *inner))
        private = any(part.startswith("_") for part in inner[:-1])  # no second one inside
        own = name not in public | APART and not any(
            other.relative_to(SOURCE).parts[0] != room and imports(other, name) for other in MODULES
        )
        if inner[-1].startswith("_") != (room in rooms and own and not private):
            wrong.append(name)
    assert wrong == []


def imports(path, module):
    """Return whether a file imports a module, or a name of it."""
    package, _, name = module.rpartition(".")
    text = path.read_text(encoding="utf-8")
    return f"from {module} import" in text or bool(
        re.search(rf"from {re.escape(package)} import [^\n]*\b{name}\b", text)
    )


def test_a_class_name_stands_for_one_thing():
    names = Counter(
        node.name
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, times in names.items() if times > 1] == []


# Modules that do the same job for different things share names: engines and their kernels, the
# part of each kind of model in its file and its findings, where tables lie, studies.
SHARED = {
    *("learn", "learn_each", "leave_one_out", "distances", "contributions", "trace", "transform"),
    *("written", "read", "least_memory", "findings", "trimmed"),
    *("score", "run_cell", "write_index", "benchmark"),
    *("percent", "normal_rows"),  # of a page, in its own spaces; of another framework
}


def test_a_function_name_stands_for_one_thing():
    """A command has the name of what it runs."""
    names = Counter(
        node.name
        for path in MODULES
        if path.relative_to(SOURCE).parts[0] != "cli"
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and not any("overload" in ast.unparse(each) for each in node.decorator_list)
    )
    assert {name for name, times in names.items() if times > 1} == SHARED


# They cannot be imported everywhere: Airflow has an environment of its own, PySpark needs Java.
APART = {"refold.integrations.airflow", "refold.integrations.pyspark"}
PUBLIC = [
    *("refold", "refold.cards", "refold.checks", "refold.explanation", "refold.export"),
    "refold.monitoring",
    *(
        f"refold.integrations.{name}"
        for name in ("dagster", "great_expectations", "mcp", "mlflow", "pandera", "pyod")
    ),
    *("refold.model_selection", "refold.peers", "refold.plot"),
    *("refold.report", "refold.scale", "refold.scale.dask", "refold.scale.duckdb"),
    "refold.scale.spark",
    "refold.tabular",
]


def public_names():
    """One line per public function, class and method, with its parameters."""
    for module in map(importlib.import_module, PUBLIC):
        own = [n for n, v in vars(module).items() if is_ours(v, module.__name__) and n[0] != "_"]
        for name in sorted(getattr(module, "__all__", own)):
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                continue
            yield f"{module.__name__}.{name}{signature(thing)}"
            if inspect.isclass(thing) and not issubclass(thing, Exception):
                for method in dir(thing):
                    value = inspect.getattr_static(thing, method)
                    value = getattr(value, "__func__", getattr(value, "fn", value))
                    if method[0] != "_" and is_ours(value, "refold"):
                        yield f"{module.__name__}.{name}.{method}{signature(value)}"


def is_ours(value, where):
    return callable(value) and (getattr(value, "__module__", None) or "").startswith(where)


def signature(thing):
    if not callable(thing):
        return ""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except ValueError:
        return ""
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    return re.sub(r" at 0x\w+", "", str(inspect.Signature(plain)))


def test_the_public_api_changes_only_on_purpose():
    """Run with REFOLD_UPDATE_API=1 to take the present API for the wanted one."""
    found, file = "\n".join(public_names()) + "\n", Path(__file__).with_name("public_api.txt")
    if os.environ.get("REFOLD_UPDATE_API"):
        file.write_text(found, encoding="utf-8")
    assert found == file.read_text(encoding="utf-8")
