"""Does a test fail when the code is changed? Random changes, one at a time: make mutation.

A change (a mutant) is made in memory, when the module is imported; no file is touched. Tests that
reach the changed line are run until one fails, those of the module first, and of each test its
first variant before the others. A mutant that no test notices survives: it wants a test, or a line
in `mutation_equivalent.toml` that says why nobody could notice it. Which test reaches which line,
and how long it takes, is found out by the first run of a room (as long as its tests take, or
twice), and again with --afresh. One processor is enough.

Compiled modules are in the way of mutmut (it copies the package) and sampling is of cosmic-ray
(it runs every mutant); hence this file.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "refold"
ROOMS = ("algorithm", "decisions", "models", "columns", "judgement")
# Tests of other folders that ask a room first of all.
_FILES = tuple(
    f"tests/modelfile/test_{name}.py" for name in ("refusals", "round_trip", "detector", "creased")
)
_CONTEXTS = tuple(
    f"tests/models/detector/test_{name}.py"
    for name in ("context", "context_noticed", "context_sums", "over", "window")
)
ASKING = {
    "algorithm": ("tests/decisions", "tests/models/test_ref.py", *_FILES),
    "decisions": ("tests/test_model_selection.py", "tests/models/detector/test_rules.py"),
    "models": ("tests/scale/test_learn.py", *_FILES),
    "columns": (
        *("tests/models/creased/test_box.py", "tests/explanation/test_tables.py"),
        *("tests/checks/table/test_columns.py", *_CONTEXTS, *_FILES),
    ),
    "judgement": ("tests/explanation",),
}
BUILT = ROOT / "build" / "mutation"  # what was found out, by room
EQUIVALENT = Path(__file__).with_name("mutation_equivalent.toml")
# By pytest's exit code: 2 is a module that cannot be imported any more, -11 a crash.
# 4 is a test that is no longer found, which decides nothing.
_OUTCOMES = {0: "SURVIVED", 1: "killed", 2: "killed", 4: "undecided", -11: "killed", -6: "killed"}
# Seconds of a processor for the tests of one mutant: what they take without a change. Tests beyond
# them are left out: a line that so many reach is noticed by these or by none.
BUDGET = 30.0
# One that takes far longer than its tests took never ends.
LONGER, AT_LEAST = 4, 30

_COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OPERATIONS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_CALLS = {
    "min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor",
    "minimum": "maximum", "maximum": "minimum",
}  # fmt: skip
# What tests, and plugins of pytest, import and is no part of refold.
_LIBRARIES = (
    *("hypothesis.extra.numpy", "narwhals.stable.v2", "pandas", "polars", "pyarrow.csv", "pytest"),
    *("schemathesis.pytest.plugin", "scipy.stats", "sklearn.datasets", "sklearn.ensemble"),
)
# In one process, and nothing is written. Plain assertions: pytest would load a module whose
# examples are tests by a loader of its own.
_ARGUMENTS = ("-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain")
_MANY = 1000
# Keywords that assert something or show it, or say how many threads work, and decide nothing.
_CHECKS = ("strict", "stacklevel", "repr", "eager_only", "series_only", "n_jobs", "n_threads")
_SEEDED = ("default_rng", "RandomState")  # any seed will do


@dataclass(frozen=True)
class Mutant:
    """One change of one module: its `number`-th place that can be changed."""

    path: Path
    number: int
    line: int
    column: int
    code: str
    before: str
    after: str

    def __str__(self) -> str:
        place = f"{self.path.relative_to(ROOT)}:{self.line}:{self.column}"
        return f"{place}: {self.before}  →  {self.after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=100, help="how many are tried")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rooms", nargs="+", default=ROOMS)
    parser.add_argument("--afresh", action="store_true", help="find out anew what tests reach")
    options = parser.parse_args()
    _import_libraries()
    for room in options.rooms:
        if options.afresh or not (BUILT / room / "seconds.json").exists():
            _find_reached(room)
    mutants = [mutant for room in options.rooms for mutant in _mutants_of(SOURCE / room)]
    random.Random(options.seed).shuffle(mutants)
    chosen = mutants[: options.mutants]
    print(f"{len(chosen)} of {len(mutants)} mutants", flush=True)
    if _run(None, ["tests/decisions/test_thresholds.py"]) != "SURVIVED":
        sys.exit("The tests fail without any change: mend that first.")
    verdicts = Counter(_verdict(mutant) for mutant in chosen)
    killed = verdicts["killed"] + verdicts["never ends"]
    decided = killed + verdicts["SURVIVED"] + verdicts["NOT REACHED"]
    print(dict(verdicts))
    print(f"{killed} of {decided} noticed by a test: {killed / max(decided, 1):.0%}")


def _verdict(mutant: Mutant) -> str:
    if _known_equivalent(mutant):
        verdict = "equivalent"
    elif not (tests := _tests_that_reach(mutant)):
        verdict = "NOT REACHED"
    else:
        verdict = _run(mutant, tests)
        if verdict == "undecided":  # with which arguments a test runs has been changed
            functions = dict.fromkeys(test.partition("[")[0] for test in tests)
            verdict = _run(mutant, list(functions))
        if verdict == "SURVIVED" and (files := _files_named_after(mutant)):
            verdict = _run(mutant, files)  # what is cached was reached by its first test alone
    print(f"{verdict:<12} {mutant}", flush=True)
    return verdict


def _known_equivalent(mutant: Mutant) -> bool:
    known = tomllib.loads(EQUIVALENT.read_text()).get("mutant", [])
    name = mutant.path.relative_to(SOURCE).as_posix()
    return any(
        one["file"] == name
        and one["code"] == mutant.code
        and (one.get("before", mutant.before), one.get("after", mutant.after))
        == (mutant.before, mutant.after)
        for one in known
    )


class _Seconds:
    """A plugin of pytest: how long the processor takes for each test."""

    def __init__(self) -> None:
        self.taken: dict[str, float] = {}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.taken[nodeid] = time.process_time()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.taken[nodeid] = round(time.process_time() - self.taken[nodeid], 3)


def _find_reached(room: str) -> None:
    """Run the tests of a room once and note which test reaches which line, and what it takes."""
    built = BUILT / room
    built.mkdir(parents=True, exist_ok=True)
    settings = built / "settings"
    settings.write_text(f"[run]\nsource_pkgs = refold.{room}\ndata_file = {built}/coverage\n")
    folders = [f"src/refold/{room}", f"tests/{room}", *ASKING.get(room, ())]
    child = os.fork()
    if child == 0:
        import pytest

        seconds = _Seconds()
        arguments = ["--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report="]
        os.chdir(ROOT)
        code = pytest.main(["-q", *_ARGUMENTS, *arguments, *folders], plugins=[seconds])
        if code == 0:
            (built / "seconds.json").write_text(json.dumps(seconds.taken))
        os._exit(int(code))
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("The tests fail without any change: mend that first.")
    shutil.copytree(SOURCE / room, built / "source", dirs_exist_ok=True)  # as it was: lines move


def _tests_that_reach(mutant: Mutant) -> list[str]:
    """Return the tests that ran the line, as many as the budget allows.

    The room's test files that were changed since it was found out come last, whole.
    """
    room = _room(mutant)
    reached = _reached(mutant.path)
    contexts = set(reached.get(_line_then(mutant), ()))
    if contexts == {""}:  # it ran at import: whoever runs a line of the module may notice
        contexts = set().union(*reached.values())
    seconds = _seconds(room)
    known = sorted({test for each in contexts if (test := each.split("|")[0]) in seconds})
    tests, total = [], 0.0
    for test in _most_related_first(known, mutant):
        total += seconds[test]
        if total > BUDGET and tests:
            break
        tests.append(test)
    found_out = (BUILT / room / "seconds.json").stat().st_mtime
    changed = [
        file.relative_to(ROOT).as_posix()
        for file in sorted((ROOT / "tests" / room).rglob("test_*.py"))
        if file.stat().st_mtime > found_out
    ]
    return tests + changed


def _most_related_first(tests: list[str], mutant: Mutant) -> list[str]:
    """Sort tests: those named after the module first, then further variants, quick ones first."""
    room, words = _room(mutant), _words(mutant)
    variants: Counter[str] = Counter()
    ranks = {}
    for test in tests:
        if not _is_there(test):
            continue
        function = test.partition("[")[0]
        file = test.removeprefix(f"tests/{room}/").partition("::")[0]
        variants[function] += 1
        ranks[test] = (
            sum(word not in file for word in words),
            variants[function],
            not test.startswith((f"tests/{room}/", "src/")),
            _seconds(room)[test],
        )
    return sorted(ranks, key=ranks.__getitem__)


def _files_named_after(mutant: Mutant) -> list[str]:
    """Return the test files of the room whose names have all words of the module's."""
    files = sorted((ROOT / "tests" / _room(mutant)).rglob("test_*.py"))
    named = [file.relative_to(ROOT).as_posix() for file in files]
    return [file for file in named if all(word in file for word in _words(mutant))]


def _words(mutant: Mutant) -> list[str]:
    """Return the words of which the name of a module is made, and its folders'."""
    place = mutant.path.relative_to(SOURCE / _room(mutant))
    return [word for word in (*place.parts[:-1], *place.stem.split("_")) if word]


def _room(mutant: Mutant) -> str:
    return mutant.path.relative_to(SOURCE).parts[0]


@cache
def _seconds(room: str) -> dict[str, float]:
    return json.loads((BUILT / room / "seconds.json").read_text())


@cache
def _reached(path: Path) -> dict[int, list[str]]:
    """Return the tests by the lines of a module, as they were numbered then."""
    from coverage import CoverageData

    data = CoverageData(str(BUILT / path.relative_to(SOURCE).parts[0] / "coverage"))
    data.read()
    return data.contexts_by_lineno(str(path))


def _line_then(mutant: Mutant) -> int:
    """Return which line it was when the tests ran; of a new line, the one before it."""
    room = SOURCE / _room(mutant)
    then = BUILT / room.name / "source" / mutant.path.relative_to(room)
    before = then.read_text().splitlines() if then.exists() else []
    matcher = SequenceMatcher(None, mutant.path.read_text().splitlines(), before, autojunk=False)
    blocks = [each for each in matcher.get_matching_blocks() if each.a < mutant.line and each.size]
    if not blocks:
        return 0
    last = blocks[-1]
    return last.b + min(mutant.line - last.a, last.size)


def _is_there(test: str) -> bool:
    """Return whether a test is still to be found by its name."""
    file, _, name = test.partition("::")
    function = name.rpartition("::")[2].partition("[")[0]
    path = ROOT / file
    return bool(test) and path.exists() and function.rpartition(".")[2] in path.read_text()


def _import_libraries() -> None:
    """Import what takes long once; each mutant's process is forked from here."""
    os.environ["SCIPY_ARRAY_API"] = "1"  # as tests.environment, which each process calls itself
    for library in _LIBRARIES:
        __import__(library)
    assert "refold" not in sys.modules


def _run(mutant: Mutant | None, tests: list[str]) -> str:
    """Run tests on a mutant, in a process of its own."""
    child = os.fork()
    if child == 0:
        limit = _limit(mutant, tests)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        os._exit(_tested(mutant, tests))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return "never ends" if code in (-signal.SIGXCPU, -signal.SIGKILL) else _OUTCOMES[code]


def _limit(mutant: Mutant | None, tests: list[str]) -> int:
    """Return the seconds after which it is said that tests never end; whole files are long."""
    seconds = _seconds(_room(mutant)) if mutant else {}
    return AT_LEAST + int(LONGER * sum(seconds.get(test, BUDGET) for test in tests))


def _tested(mutant: Mutant | None, tests: list[str]) -> int:
    import pytest

    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.chdir(ROOT)
    original = SourceFileLoader.get_code

    def changed(loader: SourceFileLoader, name: str) -> object:
        if mutant is None or Path(loader.path) != mutant.path:
            return original(loader, name)
        tree = ast.parse(mutant.path.read_text())
        _places(tree)[mutant.number].apply()
        return compile(ast.fix_missing_locations(tree), loader.path, "exec")

    SourceFileLoader.get_code = changed
    return int(pytest.main(["-x", "-q", *_ARGUMENTS, *tests]))


def _mutants_of(folder: Path) -> Iterator[Mutant]:
    for path in sorted(folder.rglob("*.py")):
        lines = path.read_text().splitlines()
        for number, place in enumerate(_places(ast.parse(path.read_text()))):
            before, unchanged = ast.unparse(place.node), getattr(place.node, place.field)
            place.apply()
            after = ast.unparse(place.node)
            setattr(place.node, place.field, unchanged)
            line, column = place.node.lineno, place.node.col_offset + 1
            yield Mutant(path, number, line, column, lines[line - 1].strip(), before, after)


@dataclass
class _Place:
    """A node of a syntax tree, and how it is changed."""

    node: ast.expr
    field: str
    value: object

    def apply(self) -> None:
        setattr(self.node, self.field, self.value)


def _places(tree: ast.Module) -> list[_Place]:
    """Return what can be changed, in the order of the file."""
    places = [place for node in _decisive(tree) for place in _changes(node)]
    return sorted(places, key=lambda place: (place.node.lineno, place.node.col_offset, place.field))


def _decisive(node: ast.AST) -> Iterator[ast.AST]:
    """Walk over nodes that decide something: no types, messages, decorators or assertions."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "exc"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.JoinedStr | ast.Assert) or not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.keyword) and child.arg in _CHECKS:
                continue
            if isinstance(child, ast.keyword) and ast.unparse(child) == "copy=False":
                continue  # a copy has the same values
            if isinstance(child, ast.Call) and ast.unparse(child.func).endswith(_SEEDED):
                continue
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            yield child
            yield from _decisive(child)


def _changes(node: ast.AST) -> Iterator[_Place]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _COMPARISONS:
            yield _Place(node, "ops", [_COMPARISONS[type(operator)]()])
        case ast.BinOp(op=operator) if type(operator) in _OPERATIONS and not _is_type(node):
            yield _Place(node, "op", _OPERATIONS[type(operator)]())
        case ast.BoolOp(op=operator):
            yield _Place(node, "op", ast.Or() if isinstance(operator, ast.And) else ast.And())
        case ast.Constant(value=bool() as value):
            yield _Place(node, "value", not value)
        case ast.Constant(value=int() | float() as value):
            # One more of thousands is a change that nobody makes and nobody notices.
            yield _Place(node, "value", value + 1 if value < _MANY else 2 * value)
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
            yield _Place(node, "func", ast.Name(_CALLS[name], ast.Load()))
        case ast.Call(func=ast.Attribute(attr=name) as function) if name in _CALLS:
            other = copy.deepcopy(function)
            other.attr = _CALLS[name]
            yield _Place(node, "func", other)


def _is_type(node: ast.BinOp) -> bool:
    """Return whether ``a | b`` looks like a union of types."""
    text = ast.unparse(node)
    return isinstance(node.op, ast.BitOr) and ("None" in text or text[:1].isupper())


if __name__ == "__main__":
    main()
