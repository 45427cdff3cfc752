"""Pictures of the pages: each module in docs/pictures draws one, when it is new or has changed."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path

import matplotlib as mpl
from sphinx.application import Sphinx
from sphinx.util import logging

from refold import RateWarning

LOG = logging.getLogger(__name__)


def draw_all(app: Sphinx) -> None:
    """Draw what is missing or older than its module."""
    sources, drawn = Path(app.srcdir) / "pictures", Path(app.srcdir) / "drawn"
    drawn.mkdir(exist_ok=True)
    for source in sorted(sources.glob("*.py")):
        picture = drawn / f"{source.stem.replace('_', '-')}.svg"
        if not picture.exists() or picture.stat().st_mtime < source.stat().st_mtime:
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
    with mpl.rc_context(style | {"axes.spines.right": False}), warnings.catch_warnings():
        warnings.simplefilter("ignore", RateWarning)  # the tables of pictures are small
        figure = module.draw()
        metadata = {"Date": None} if picture.suffix == ".svg" else None
        figure.savefig(picture, dpi=120, metadata=metadata, bbox_inches="tight")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the build: before pages are read."""
    mpl.use("Agg")
    app.connect("builder-inited", draw_all)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
