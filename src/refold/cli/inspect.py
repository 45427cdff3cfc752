"""``refold inspect``: what a model has learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from refold.base.words import printable
from refold.cli import _options as options

if TYPE_CHECKING:
    from rich.table import Table


def inspect(model: options.ModelFile, as_json: options.AsJson = False) -> None:
    """Show what a model has learned: rows, threshold, and every feature's normal range.

    Nearly all rows of training lie in a feature's normal range.

    For example:
      refold inspect model.json
      refold inspect model.json --json | jq '.features[].normal'
    """
    from refold.cli._models import LoadedModel

    document = _document(LoadedModel(model))
    if as_json:
        options.print_json(document)
        return
    from rich.console import Console

    options.say(_facts(document))
    Console().print(_table(document["features"]))


def _document(loaded: Any) -> dict[str, Any]:
    from refold.explain import normal_ranges

    model, judge = loaded.model, loaded.judge
    summary, chain = model.summary_, getattr(model, "chain_", None)
    calibration = judge.calibration
    ranges = normal_ranges(summary)
    parameters = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in ("alpha", "threshold", "n_jobs")
    }
    return {
        "kind": type(model).__name__,
        "rows": summary.rows,
        "weight": summary.weight,
        "threshold": judge.threshold,
        "alpha": judge.alpha,
        "calibration": None
        if calibration is None
        else {"source": calibration.source, "rows": calibration.total},
        "engine": getattr(model, "engine_", None),
        "parameters": parameters,
        "features": [
            {
                "name": name,
                "low": float(summary.low[k]),
                "high": float(summary.high[k]),
                "normal": [[float(low), float(high)] for low, high in ranges[k]],
                "missing": float(summary.missing[k]) / summary.weight,
                "levels": None if chain is None else int(chain.levels[k]),
                "gain": None if chain is None else float(chain.gain[k]),
            }
            for k, name in enumerate(judge.names)
        ],
    }


def _facts(document: dict[str, Any]) -> str:
    alpha, calibration = document["alpha"], document["calibration"]
    rate = "no rate is promised"
    if alpha is not None:
        rate = f"{100 * alpha:g} % of normal rows lie beyond"
    if calibration is not None:
        rate += f" (from {calibration['rows']:,.0f} rows, {calibration['source']})"
    engine = "" if document["engine"] is None else f"Learned by the engine {document['engine']}; "
    parameters = ", ".join(f"{name} {value}" for name, value in document["parameters"].items())
    return (
        f"{document['kind']}, learned from {document['rows']:,} rows, "
        f"{len(document['features'])} features.\n"
        f"A row is normal up to a distance of {document['threshold']:.6g}; {rate}.\n"
        f"{engine}{parameters}."
    )


def _table(features: list[dict[str, Any]]) -> Table:
    from refold.cli._answers import table_of
    from refold.explain import number, ranges_text

    headings = ("feature", "lowest", "highest", "normal", "missing", "levels", "gain")
    rows = [
        (
            printable(feature["name"]),
            number(feature["low"]),
            number(feature["high"]),
            ranges_text(feature["normal"]),
            f"{100 * feature['missing']:.3g} %",
            "" if feature["levels"] is None else str(feature["levels"]),
            "" if feature["gain"] is None else f"{feature['gain']:.2g}",
        )
        for feature in features
    ]
    return table_of(headings, rows, words="feature")
