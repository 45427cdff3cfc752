"""The examples of the gallery run as a reader would run them, and leave nothing behind."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
EXAMPLES = sorted(path.stem for path in GALLERY.glob("plot_*.py"))
QUICK = ["plot_merging_sites", "plot_streaming"]  # the build of the site runs them all

# Pictures are drawn, for much goes wrong only then; the first one of a film too.
RUN = """
import runpy, socket, sys

def refuse(*_):
    raise OSError("an example must not need a network")

socket.socket.connect = refuse
runpy.run_path(sys.argv[1], run_name="__main__")
from matplotlib import pyplot
for number in pyplot.get_fignums():
    pyplot.figure(number).canvas.draw()
assert pyplot.get_fignums(), "an example without a picture has no thumbnail"
"""


@pytest.mark.parametrize("name", QUICK)
def test_an_example_runs_without_a_warning_or_a_network_and_leaves_no_file(name, tmp_path):
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    left_out = ("DISPLAY", "SCIPY_ARRAY_API")
    plain = {key: value for key, value in os.environ.items() if key not in left_out}
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN, str(GALLERY / f"{name}.py")],
        cwd=here,
        env=plain | {"MPLBACKEND": "Agg", "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not list(here.iterdir())
    # What is hidden there is a library's own: ONNX Runtime has such a file.
    assert all(path.name.startswith(".") for path in temporary.iterdir())


def test_all_that_are_called_quick_are_there():
    assert set(EXAMPLES) >= set(QUICK)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_begins_with_a_title_that_the_gallery_can_show(name):
    text = ast.get_docstring(ast.parse((GALLERY / f"{name}.py").read_text()))
    title, underline, empty, first = text.splitlines()[:4]
    assert title
    assert underline == "=" * len(title)
    assert (empty, bool(first)) == ("", True)
