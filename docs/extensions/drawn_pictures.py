"""Pictures of the pages: each module in docs/pictures draws one, when it is new or has changed.

A picture has a twin for the dark site: a drawn one in other colours, `…-light.png` as `…-dark.png`.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import warnings
from pathlib import Path

import matplotlib as mpl
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from refold import RateWarning

LOG = logging.getLogger(__name__)
INK = "#1b1f24"
TEXTS = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
# What the colours of a picture are on a dark page; others are seen on both.
DARK = {
    "#ffffff": "#14181d",
    INK: "#e7ebef",
    "#333333": "#e7ebef",
    "#dceaf4": "#1d3e55",
    "#cfe4f2": "#1d3e55",
    "#bfd9ea": "#2c6a94",
    "#e6e6e6": "#39414a",
    "#666666": "#a3adb8",
    "#000000": "#e7ebef",
    "#0072b2": "#56b4e9",
    "#d55e00": "#f0a35e",
}


def draw_all(app: Sphinx) -> None:
    """Draw what is missing or older than its module."""
    sources, drawn = Path(app.srcdir) / "pictures", Path(app.srcdir) / "drawn"
    drawn.mkdir(exist_ok=True)
    for source in sorted(sources.glob("*.py")):
        picture = drawn / f"{source.stem.replace('_', '-')}.svg"
        if not twin_of(picture).exists() or picture.stat().st_mtime < source.stat().st_mtime:
            LOG.info("drawing %s", picture.name)
            draw(source, picture)


def draw(source: Path, picture: Path) -> None:
    """Save the figure that a module's ``draw()`` returns; the same bytes every time."""
    spec = importlib.util.spec_from_file_location(f"picture_{source.stem}", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    style = {"svg.hashsalt": source.stem, "font.size": 10, "axes.spines.top": False}
    style |= dict.fromkeys(TEXTS, INK)  # black would not be written, and could not be replaced
    with mpl.rc_context(style | {"axes.spines.right": False}), warnings.catch_warnings():
        warnings.simplefilter("ignore", RateWarning)  # the tables of pictures are small
        figure = module.draw()
        metadata = {"Date": None} if picture.suffix == ".svg" else None
        figure.savefig(picture, dpi=120, metadata=metadata, bbox_inches="tight")
    if picture.suffix == ".svg":
        text = picture.read_text(encoding="utf-8")
        dark = re.sub("#[0-9a-f]{6}", lambda found: DARK.get(found[0], found[0]), text)
        twin_of(picture).write_text(dark, encoding="utf-8")


def twin_of(picture: Path) -> Path:
    """Return where the picture for the dark site is."""
    return picture.with_stem(picture.stem.removesuffix("-light") + "-dark")


def show_twins(app: Sphinx, tree: nodes.document) -> None:
    """Put the picture for the dark site beside each one that has it; the theme shows one."""
    page = Path(tree["source"]).parent
    for image in list(tree.findall(nodes.image)):
        twin = twin_of(Path(image["uri"]))
        if not (page / twin).exists():
            continue
        other = image.deepcopy()
        other["uri"] = twin.as_posix()
        image["classes"].append("only-light")
        other["classes"].append("only-dark")
        image.parent.insert(image.parent.index(image) + 1, other)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the build: before pages are read."""
    mpl.use("Agg")
    app.connect("builder-inited", draw_all)
    app.connect("doctree-read", show_twins, priority=400)  # before pictures are collected
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
