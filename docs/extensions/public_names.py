"""The reference: for every room a page, with every public name of it, whatever these are by now."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import typing
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging

LOG = logging.getLogger(__name__)
ROOMS = (
    "refold",
    "refold.explanation",
    "refold.plot",
    "refold.report",
    "refold.cards",
    "refold.monitoring",
    "refold.checks",
    "refold.model_selection",
    "refold.scale",
    "refold.scale.dask",
    "refold.scale.spark",
    "refold.scale.duckdb",
    "refold.export",
    "refold.integrations.dagster",
    "refold.integrations.great_expectations",
    "refold.integrations.mcp",
    "refold.integrations.mlflow",
    "refold.integrations.pandera",
    "refold.integrations.pyod",
    "refold.peers",
    "refold.tabular",
)

RESULTS = tuple(
    f"refold.{room}." for room in ("cards", "checks", "explanation", "monitoring", "report")
)

# A value has no docstring of its own: autodoc would show that of its type.
VALUES = {
    "refold.monitoring.Verdict": "One of :data:`refold.monitoring.VERDICTS`.",
    "refold.monitoring.VERDICTS": "All verdicts of a :class:`refold.monitoring.Drift`.",
    "refold.model_selection.gmean_scorer": "Gmean for ``scoring=`` in scikit-learn's searches and "
    "validation: :func:`refold.model_selection.gmean_score` of what ``predict`` says.",
    "refold.checks.LIMIT": "How many findings are shown first.",
}

PAGE = """\
{title}
{line}

.. automodule:: {room}
   :no-members:

.. currentmodule:: {room}

.. autosummary::
   :toctree: names
   :nosignatures:

   {names}
{parts}"""

# The types of what results hold: nobody imports them, everybody reads their fields.
PARTS = """
Parts of results
----------------
"""
PART = """
.. autoclass:: {module}.{name}()
   :members:
"""


OVERVIEW = """\
.. autosummary::

   {rooms}
"""


def public_names(module: ModuleType) -> list[str]:
    """List what a room offers and no room above it in the list does, modules aside."""
    offered = getattr(module, "__all__", None) or [
        name for name, thing in vars(module).items() if _is_own(thing, module) and name[0] != "_"
    ]
    names = [name for name in offered if not inspect.ismodule(getattr(module, name))]
    if module.__name__ != "refold":
        names = [name for name in names if not _is_of_the_package(name, getattr(module, name))]
    return sorted(names, key=str.lower)


def parts_of(things: list[Any]) -> list[type]:
    """List the dataclasses of ours that public ones hold in their fields, and these in turn."""
    seen: list[Any] = list(things)
    for thing in seen:  # it grows
        inside = list(typing.get_args(thing))
        if isinstance(thing, type) and dataclasses.is_dataclass(thing):
            hints = typing.get_type_hints(thing)
            inside += [hints[field.name] for field in dataclasses.fields(thing)]
        for each in inside:
            if each not in seen:
                seen.append(each)
    return [each for each in seen[len(things) :] if is_result(each)]


def is_result(thing: Any) -> bool:
    """Tell whether a type is a dataclass of the rooms whose functions return results."""
    return dataclasses.is_dataclass(thing) and thing.__module__.startswith(RESULTS)


def _is_own(thing: Any, module: ModuleType) -> bool:
    return callable(thing) and (getattr(thing, "__module__", None) or "") == module.__name__


def _is_of_the_package(name: str, thing: Any) -> bool:
    package = importlib.import_module("refold")
    return name in package.__all__ and getattr(package, name) is thing


def write_rooms(app: Sphinx, config: Config) -> None:
    """Write the page of each room, and what the reference begins with."""
    folder = Path(app.srcdir) / "reference" / "rooms"
    folder.mkdir(exist_ok=True)
    _write(folder / "overview.txt", OVERVIEW.format(rooms="\n   ".join(ROOMS)))
    modules = [importlib.import_module(room) for room in ROOMS]
    shown = {getattr(module, name) for module in modules for name in public_names(module)}
    for module in modules:
        names = public_names(module)
        parts = [
            part
            for part in parts_of([getattr(module, name) for name in names])
            if part not in shown
        ]
        shown.update(parts)
        described = [PART.format(module=part.__module__, name=part.__name__) for part in parts]
        page = PAGE.format(
            title=module.__name__,
            line="=" * len(module.__name__),
            room=module.__name__,
            names="\n   ".join(names),
            parts="".join([PARTS, *described] if parts else []),
        )
        _write(folder / f"{module.__name__}.rst", page)


def _write(file: Path, text: str) -> None:
    """Write a file only if it changes: Sphinx reads again what is new."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def describe_values(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Say what a public value is, in place of what its type is."""
    if what == "data" and name in VALUES:
        lines[:] = [VALUES[name]]
    elif what == "data":
        LOG.warning("%s is a value: say in VALUES of public_names.py what it is for", name)


def link_to_pages(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Turn the names of our pages in docstrings into links."""
    lines[:] = [re.sub(r"``docs/([\w-]+)\.md``", r":doc:`/\1`", line) for line in lines]


def only_ours(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn and Python give to every class."""
    home = getattr(inspect.unwrap(getattr(obj, "fget", None) or obj), "__module__", None) or ""
    # A field without a default is not there: Sphinx hands over a mark of its own.
    return None if home.split(".")[0] in ("refold", "", "sphinx") else True


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the build; pages are written before Sphinx looks which there are."""
    app.connect("config-inited", write_rooms)
    app.connect("autodoc-skip-member", only_ours)
    app.connect("autodoc-process-docstring", describe_values)
    app.connect("autodoc-process-docstring", link_to_pages)
    return {"parallel_read_safe": True}
