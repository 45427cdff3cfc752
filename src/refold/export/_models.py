"""Which models have a graph, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.utils.validation import check_is_fitted

from refold.export._creased_graph import CreasedResults, write_creased
from refold.export._graph import Graph, Results, check_exportable, write
from refold.models.creased import CreasedREF
from refold.models.ref import REF


class Exporter(NamedTuple):
    """How a kind of model is written."""

    outputs: tuple[str, ...]
    check: Callable[[Any], None]
    write: Callable[[Graph, Any, str], tuple[str, ...]]


EXPORTERS: dict[type, Exporter] = {
    REF: Exporter(Results._fields, check_exportable, write),
    CreasedREF: Exporter(CreasedResults._fields, check_is_fitted, write_creased),
}
