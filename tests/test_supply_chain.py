"""What refold imports is declared, bounded and locked, and its sdist has what its tests need."""

import ast
import re
import subprocess
import sys
import tarfile
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.lower_bounds import lower_bounds, promised

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "refold"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PYPROJECT["project"]["optional-dependencies"]

# Where the package is not called like its module.
PACKAGES = {"airflow": "apache-airflow-core", "mlflow": "mlflow-skinny", "sklearn": "scikit-learn"}

# The extra that a file may import from as a matter of course; others ask for it with `needs`.
EXTRA_OF = {
    "base/progress.py": "cli",
    "checks/_rules_sql.py": "sql",
    "cli": "cli",
    "export/_sql_cells.py": "sql",
    "export/_sql_columns.py": "sql",
    "export/_sql_groups.py": "sql",
    "export/_sql_names.py": "sql",
    "export/_sql_query.py": "sql",
    "export/_sql_rules.py": "sql",
    "export/_sql_stages.py": "sql",
    "export/_sql_statement.py": "sql",
    "export/_sql_table.py": "sql",
    "integrations/_mcp_tools.py": "mcp",
    "integrations/mcp.py": "mcp",
    "service": "app",
    "app": "app",
    "studies/paper/figures.py": "paper",
}


def names(texts):
    return {canonicalize_name(Requirement(text).name) for text in texts}


def brought_by(extra):
    """Return the packages that an extra brings, with those of the extras that it is made of."""
    requirements = [Requirement(text) for text in EXTRAS[extra]]
    inner = [brought_by(e) for r in requirements if r.name == "refold" for e in r.extras]
    own = {canonicalize_name(r.name) for r in requirements if r.name != "refold"}
    return own.union(*inner)


CORE = names(PYPROJECT["project"]["dependencies"])


def package(module):
    """Return the package that a module is of, or None: refold's own and Python's are no matter."""
    top = module.partition(".")[0]
    if top == "refold" or top in sys.stdlib_module_names:
        return None
    return canonicalize_name(PACKAGES.get(top, top))


def executed(tree):
    """Return the nodes of a module without what only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from executed(node)


def imported(tree):
    """Return the names that a module imports in a statement, such as numpy.linalg."""
    for node in executed(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def asked_for(tree):
    """Return (module, extra) of calls of `needs`; a module may be known only at run time."""
    for node in executed(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "needs":
            module, extra = node.args
            yield module.value if isinstance(module, ast.Constant) else None, extra.value


def undeclared(file, text):
    """Return the packages that a file of refold imports without pyproject.toml bringing them."""
    tree = ast.parse(text)
    own = EXTRA_OF.get(file) or EXTRA_OF.get(file.partition("/")[0])
    available = CORE | (brought_by(own) if own else set())
    found = {name for module in imported(tree) if (name := package(module))} - available
    asked = {(package(module), extra) for module, extra in asked_for(tree) if module}
    return found | {name for name, extra in asked if name not in brought_by(extra)}


def test_every_import_is_of_a_declared_package():
    files = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.py")}
    texts = {file: path.read_text(encoding="utf-8") for file, path in files.items()}
    found = {file: bad for file, text in texts.items() if (bad := undeclared(file, text))}
    assert found == {}


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("models/ref.py", "def later():\n    import rich.table", {"rich"}),
        ("cli/score.py", "import rich.table, os\nfrom refold import REF", set()),
        ("plot/_regions.py", 'needs("matplotlib.pyplot", "plot")', set()),
        ("plot/_regions.py", 'needs("matplotlib.pyplot", "sql")', {"matplotlib"}),
        ("columns/frames.py", "if TYPE_CHECKING:\n    import pandas", set()),
        ("columns/frames.py", "from pandas import DataFrame", {"pandas"}),
        ("studies/run.py", 'needs("rich", "benchmark")', set()),
    ],
)
def test_the_check_of_imports_finds_what_is_not_declared(file, text, expected):
    assert undeclared(file, text) == expected


def private(tree):
    """Return the packages of which a module imports private names."""
    for name in imported(tree):
        if package(name) and any(re.match("_[^_]", part) for part in name.split(".")):
            yield package(name)


def test_no_private_name_of_another_package_is_imported():
    """A release of that package may move it."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")]
    assert set(chain.from_iterable(map(private, trees))) == set()


def test_build_requirements_have_an_upper_bound():
    for text in PYPROJECT["build-system"]["requires"]:
        assert {part.operator for part in Requirement(text).specifier} == {">=", "<"}


def test_the_lowest_version_of_every_package_is_known():
    lowest = lower_bounds(promised(PYPROJECT))
    assert lowest.keys() >= CORE | {"nanobind", "matplotlib", "pyarrow"}


def pins(file="constraints.txt"):
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


@pytest.mark.parametrize("file", sorted(path.name for path in ROOT.glob("constraints*.txt")))
def test_a_lock_is_versions_and_nothing_else(file):
    for name, version in pins(file).items():
        assert re.fullmatch(r"[\w.-]+", name)
        assert re.fullmatch(r"\d[\w.]*", version)


def test_the_lock_has_an_allowed_version_of_all_that_the_tests_install():
    groups = chain.from_iterable(PYPROJECT["dependency-groups"].values())
    tools = [Requirement(text) for text in groups if isinstance(text, str)]
    everywhere = {**pins("constraints-airflow.txt"), **pins()}
    locked = {canonicalize_name(name): version for name, version in everywhere.items()}
    for requirement in [*promised(PYPROJECT), *tools]:
        version = locked[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement


def test_the_sdist_has_every_file_of_the_repository(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a checkout: there is no list of files to compare with")
    build = (
        "import sys; from scikit_build_core.build import build_sdist; build_sdist(*sys.argv[1:])"
    )
    subprocess.run([sys.executable, "-c", build, tmp_path], cwd=ROOT, check=True)
    (file,) = tmp_path.iterdir()
    with tarfile.open(file) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    assert {name for name in tracked if not name.startswith(".ci/")} - packed == set()


def test_extras_have_the_names_that_a_wheel_has():
    """An older pip asks for an extra as it is written, and finds it as a wheel spells it."""
    assert [canonicalize_name(name) for name in EXTRAS] == list(EXTRAS)
