"""One-class classification by Repeated Element-wise Folding.

A table of normal rows in; for any new row: normal or not, how far off, because of which columns.

>>> from refold import REF
>>> model = REF().fit([[20.1, 5.0], [19.8, 5.1], [20.3, 4.9], [20.0, 5.2]])
>>> model.predict([[20.2, 5.0], [35.0, 5.0]])
array([ 1, -1])
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refold.base.findings import Finding, RateWarning
    from refold.checks import Comparison, Findings, Suspects, check, compare, limits, suspects
    from refold.columns.encoding.encoder import TableEncoder
    from refold.decisions.select import select
    from refold.explanation import explain
    from refold.modelfile import ModelFileError
    from refold.models.creased import CreasedREF
    from refold.models.detector import Detector
    from refold.models.files import load, save
    from refold.models.merge import merge
    from refold.models.ref import REF
    from refold.monitoring import drift, incidents

    __version__: str

__all__ = [
    "REF",
    "Comparison",
    "CreasedREF",
    "Detector",
    "Finding",
    "Findings",
    "ModelFileError",
    "RateWarning",
    "Suspects",
    "TableEncoder",
    "check",
    "compare",
    "drift",
    "explain",
    "incidents",
    "limits",
    "load",
    "merge",
    "save",
    "select",
    "suspects",
]

_HOMES = {
    "Comparison": "refold.checks",
    "REF": "refold.models.ref",
    "CreasedREF": "refold.models.creased",
    "Detector": "refold.models.detector",
    "Finding": "refold.base.findings",
    "Findings": "refold.checks",
    "ModelFileError": "refold.modelfile",
    "RateWarning": "refold.base.findings",
    "Suspects": "refold.checks",
    "TableEncoder": "refold.columns.encoding.encoder",
    "check": "refold.checks",
    "compare": "refold.checks",
    "drift": "refold.monitoring",
    "explain": "refold.explanation",
    "incidents": "refold.monitoring",
    "limits": "refold.checks",
    "load": "refold.models.files",
    "merge": "refold.models.merge",
    "save": "refold.models.files",
    "select": "refold.decisions.select",
    "suspects": "refold.checks",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: scikit-learn takes longer than all of the rest.

    The command line, which imports this package too, must not pay for it to show its help.
    """
    if name == "__version__":
        return _import_module("refold.base.version").VERSION
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
