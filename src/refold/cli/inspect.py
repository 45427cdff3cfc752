"""``refold inspect``: what a model has learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from refold.base.words import printable
from refold.cli import options

if TYPE_CHECKING:
    from rich.table import Table

    from refold.cli.models import LoadedModel


def inspect(model: options.ModelFile, as_json: options.AsJson = False) -> None:
    """Show what a model has learned: rows, threshold, and what is normal of every column.

    The normal range of numbers is that of the training rows without cells far from all others; of
    categories and texts the most frequent values are shown, of dates the first and the last. How
    each column was read is shown too: unit, decimal mark, words for missing values.

    For example:
      refold inspect model.json
      refold inspect model.json --json | jq '.columns[] | {name, role, normal}'
    """
    from refold.cli.models import LoadedModel

    loaded = LoadedModel(model)
    of_table = loaded.judge.encoder is not None
    document = {**_model(loaded), **(_columns(loaded) if of_table else _features(loaded))}
    if as_json:
        options.print_json(document)
        return
    from rich.console import Console

    options.say(_facts(document))
    table = _table_of_columns if of_table else _table_of_features
    Console().print(table(document))
    for text in document.get("noticed", ()):
        options.say(f"Noticed: {printable(text)}")


def _model(loaded: LoadedModel) -> dict[str, Any]:
    from refold.models.feedback import in_short

    model, judge = loaded.model, loaded.judge
    calibration = judge.calibration
    parameters = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in ("alpha", "threshold", "n_jobs", "id_column")
        and not (name == "roles" and not value)
    }
    return {
        "kind": type(model).__name__,
        "threshold": judge.threshold,
        "alpha": judge.alpha,
        "calibration": None
        if calibration is None
        else {"source": calibration.source, "rows": calibration.total},
        "engine": getattr(model, "engine_", None),
        "parameters": parameters,
        "feedback": in_short(getattr(model, "feedback_", ())),
    }


def _columns(loaded: LoadedModel) -> dict[str, Any]:
    """Return what is known of columns of any kind."""
    from refold.cli.printing import column_document, rate_sentence, sentence, unread_columns
    from refold.explanation import normal_of_columns

    model, encoder = loaded.model, loaded.judge.encoder
    assert encoder is not None
    normal = normal_of_columns(encoder, model.summary_)
    return {
        "rows": encoder.counts.rows,
        "rate": rate_sentence(model),
        "id_column": model.id_column,
        "columns": [
            {**column_document(column), **normal.get(column.name, {})} for column in model.columns_
        ],
        "ignored": unread_columns(model),
        "noticed": list(map(sentence, model.noticed_)),
    }


def _features(loaded: LoadedModel) -> dict[str, Any]:
    """Return what is known of the features of a model of numbers."""
    from refold.judgement.normal import normal_ranges

    model, judge = loaded.model, loaded.judge
    summary, chain = model.summary_, getattr(model, "chain_", None)
    ranges = normal_ranges(summary)
    return {
        "rows": summary.rows,
        "weight": summary.weight,
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
        rate = f"{100 * alpha:.3g} % of normal rows lie beyond"
    if calibration is not None:
        rate += f" (from {calibration['rows']:,.0f} rows, {calibration['source']})"
    engine = "" if document["engine"] is None else f"Learned by the engine {document['engine']}; "
    parameters = ", ".join(
        f"{name} {value}"
        for name, value in document["parameters"].items()
        if value not in (None, {})
    )
    if "rate" in document:
        rate = (
            f"{document['rate']}\nA row is normal up to a distance of {document['threshold']:.6g}."
        )
    else:
        rate = f"A row is normal up to a distance of {document['threshold']:.6g}; {rate}."
    return (
        f"{document['kind']}, learned from {document['rows']:,} rows, "
        f"{_number_of(document)}.\n"
        f"{rate}\n"
        f"{engine}{parameters}."
        + (f"\nFeedback: {document['feedback']}." if document["feedback"] else "")
    )


def _number_of(document: dict[str, Any]) -> str:
    if "features" in document:
        return f"{len(document['features'])} features"
    return f"{len(document['columns']) + len(document['ignored'])} columns"


def _table_of_columns(document: dict[str, Any]) -> Table:
    from refold.cli.printing import table_of
    from refold.explanation import normal_text

    headings = ("column", "read as", "normal", "missing", "beside")
    rows = [
        (
            printable(column["name"]),
            column["reading"],
            f"{normal_text(column)}{_of_all_rows(column)}",
            _missing(column, document["rows"]),
            printable(column["beside"] or ""),
        )
        for column in document["columns"]
    ]
    ignored = document["ignored"].items()
    rows += [(printable(name), "ignore", why, "", "") for name, why in ignored]
    return table_of(headings, rows, words=headings)


def _of_all_rows(column: dict[str, Any]) -> str:
    """Name an example of a number, and the ends of all rows if they are not normal."""
    from refold.judgement.number_text import ranges_text

    ends, normal = (column["low"], column["high"]), column.get("normal")
    if not normal:
        return ""
    example = f", such as {column['example']}"
    if ends == (normal[0][0], normal[-1][1]):
        return example
    return f"{example}; all rows {ranges_text((ends,), decimals=column['decimals'])}"


def _missing(column: dict[str, Any], rows: int) -> str:
    share = f"{100 * column['missing'] / rows:.3g} %"
    words = ", ".join(map(printable, column["missing_words"]))
    return f"{share} ({words})" if words else share


def _table_of_features(document: dict[str, Any]) -> Table:
    from refold.base.words import number
    from refold.cli.printing import table_of
    from refold.judgement.number_text import ranges_text

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
        for feature in document["features"]
    ]
    return table_of(headings, rows, words=("feature",))
