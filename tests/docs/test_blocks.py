"""Code blocks of README.md and docs run and print what the page says, or say why not."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tomllib

import pytest

from tests.command import run_in_process
from tests.docs.pages import PAGES, ROOT, blocks_of, name_of
from tests.docs.prepared import names, write_files

LANGUAGES = ("python", "shell", "console", "text", "toml", "json")
SERVERS = ("serve", "app", "mcp")  # they do not end by themselves; tests of their own start them
SLOW = ("adapters", "cli", "compare", "deployment", "engineer", "limits", "modelfile", "report")
SLOW += ("great_expectations", "orchestrators")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = re.findall(r"(?m)^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"))


def blocks_in(page, *languages):
    return [block for block in blocks_of(page) if block.language in languages]


def pages_with(*languages):
    found = [page for page in PAGES if blocks_in(page, *languages)]
    marks = {page: [pytest.mark.slow] if page.stem in SLOW else [] for page in found}
    pages = [pytest.param(page, id=name_of(page), marks=marks[page]) for page in found]
    return pytest.mark.parametrize("page", pages)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_say_their_language(page):
    written_by_a_command = page.name == "reproduction.md"
    commands = ROOT / "README.md"  # its two commands stand indented
    for block in blocks_of(page):
        named = block.language in LANGUAGES or block.language.startswith("{")
        assert named or written_by_a_command or page == commands, str(block)


def assert_printed(block, expected, printed):
    """Compare line by line; … stands for anything."""
    pattern = ".*".join(map(re.escape, plain(expected).split("…")))
    assert re.fullmatch(pattern, plain(printed), re.DOTALL), f"{block}\n{printed}"


def plain(text):
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


# MLflow compares a column with a range, which pandas will take for something else one day.
@pytest.mark.filterwarnings("ignore:Operation with range is deprecated")
@pages_with("python")
def test_python_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # as test_mlflow.py has it
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs").as_uri())
    write_files(name_of(page), tmp_path)
    names_of_page, printed = names(name_of(page)), ""
    for block in blocks_in(page, "python", "text"):
        if block.not_run:
            continue
        if block.language == "text":
            if block.follows:
                assert_printed(block, block.text, printed)
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block.text, str(block), "exec"), names_of_page)
        printed = out.getvalue()


def commands_of(block):
    """Return each command of a block with what it is said to print."""
    text = block.text.replace("\\\n", "")
    if block.language == "shell":
        return [(line, None) for line in text.splitlines() if line.strip()]
    parts = re.split(r"(?m)^\$ ", text)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


@pages_with("shell", "console")
def test_commands_run_and_print_what_the_page_says(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "500")
    write_files(name_of(page), tmp_path)
    for block in blocks_in(page, "shell", "console"):
        if block.not_run:
            continue
        for command, expected in commands_of(block):
            words = shlex.split(command, comments=True)
            if not words:
                continue
            if words[0] == "refold" and words[1] not in SERVERS:
                ended = run_in_process(monkeypatch, *words[1:], code=None)
                printed = capsys.readouterr()
                assert ended <= any(word.startswith("--fail-") for word in words), printed.err
                if expected and expected.strip():
                    assert_printed(block, expected, printed.out)
            else:
                assert_known(block, words)


def test_the_commands_of_the_readme_exist():
    indented = [block for block in blocks_of(ROOT / "README.md") if not block.language]
    commands = [shlex.split(line, comments=True) for b in indented for line in b.text.splitlines()]
    assert commands == [["make", "demo"], ["make", "test"]]
    assert {"demo", "test"} <= set(TARGETS)


@pytest.mark.parametrize("printed", ["a\nc", "a\nb\nc", "A\nb", ""])
def test_what_is_printed_is_compared(printed):
    block = blocks_of(ROOT / "README.md")[0]
    assert_printed(block, "a\n…\nb", "a\nanything\nb\n")
    with pytest.raises(AssertionError):
        assert_printed(block, "a\nb", printed)


def assert_known(block, words):
    """What is not run here names something that exists."""
    if words[:2] == ["pip", "install"]:
        extras = re.fullmatch(r"(refold|\.)?\[([\w,-]+)\]|\.", words[2])
        asked = set((extras.group(2) or "").split(",")) - {""}
        assert asked <= set(PROJECT["optional-dependencies"]), str(block)
    elif words[0] == "make":
        assert words[1] in TARGETS, str(block)
    else:
        assert words[0] == "refold", f"{block}: {words[0]}"
