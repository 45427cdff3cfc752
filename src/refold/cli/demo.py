"""``refold demo``: learn from the parcels of a shop; say which new ones are outliers, and why."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refold.base.needs import needs
from refold.base.words import printable
from refold.cli import options

if TYPE_CHECKING:
    from refold.explanation import Explanations

_LEARNED, _NEW, _REASONS = 2000, 1000, 2
_COUNTRIES = {"Berlin": "Germany", "Munich": "Germany", "Paris": "France", "Lyon": "France"}
_COUNTRIES |= {"Rome": "Italy", "Milan": "Italy"}
_CARRIERS = {"Germany": "DHL", "France": "Colissimo", "Italy": "Poste"}
# What went wrong with some of the new parcels: the column, and what was written there.
_SLIPS: dict[str, tuple[str, Any]] = {
    "the weight was typed in kilograms": ("weight_g", 1.2),
    "the postage has a digit too many": ("postage_eur", 74.9),
    "the city is in another country": ("country", "Italy"),
    "the carrier has a typing error": ("carrier", "Colisimo"),
    "nobody wrote down the payment": ("payment", None),
    "the parcel left on a Sunday": ("sent", date(2026, 3, 8)),
}


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path(
        "report.html"
    ),
    as_json: options.AsJson = False,
) -> None:
    """Learn from the parcels that a shop has sent, and say which new ones are outliers, and why.

    The table is made up: cities, carriers, weights, postage, payment, days. Some of the new
    parcels have a mistake in one cell. A report on them is written at the end.

    For example:
      refold demo
      refold demo -o demo.html
    """
    options.check_output(out)
    from refold import Detector
    from refold.explanation import explain
    from refold.report import write_report

    model = Detector(id_column="parcel").fit(_table(_parcels(_LEARNED, 0)))
    new, wrong = _parcels(_NEW, 1), _with_slips(_parcels(100, 2))
    false_alarms = int((model.predict(_table(new)) == -1).sum())
    found = explain(model, _table(wrong), reasons=_REASONS)
    write_report(model, _table(wrong + new), out, title="New parcels")
    if as_json:
        document = _document(model, found, false_alarms)
        options.print_json({**document, "report": str(out)})
        return
    names = [column.name for column in model.columns_ if column.role != "ignore"]
    options.say(
        f"Learned from {_LEARNED:,} parcels of a shop, of which it knows {', '.join(names)}.\n"
        f"{_NEW:,} new parcels have no mistake: {false_alarms} of them are called outliers, "
        f"and about {100 * float(model.alpha_ or 0.0):.2g} % may be.\n"
        f"{len(wrong)} have one mistake each. This is what the model says of them:"
    )
    for mistake, parcel in zip(_SLIPS, found, strict=True):
        options.say(f"\nHere {mistake}.\n{parcel.text(_REASONS)}")
    options.say(f"\nAll of it, to look at in a browser: {printable(str(out))}")


def _parcels(count: int, seed: int) -> list[dict[str, Any]]:
    """Return parcels of a shop, without mistakes."""
    import numpy as np

    rng = np.random.default_rng(seed)
    parcels = []
    for number in range(count):
        city = str(rng.choice(list(_COUNTRIES)))
        country = _COUNTRIES[city]
        weight = int(rng.gamma(6.0, 200.0)) + 100
        day = date(2026, 3, 2) + timedelta(int(rng.choice([0, 1, 2, 3, 4, 7, 8, 9, 10, 11])))
        abroad = 0.0 if country == "Germany" else 4.0
        parcels.append(
            {
                "parcel": f"P{seed}-{number + 1:04}",
                "city": city,
                "country": country,
                "carrier": _CARRIERS[country],
                "weight_g": float(weight),
                "postage_eur": round(3.5 + abroad + 0.002 * weight + rng.normal(0.0, 0.2), 2),
                "payment": str(rng.choice(["card", "invoice", "transfer"], p=[0.6, 0.25, 0.15])),
                "sent": day,
            }
        )
    return parcels


def _with_slips(parcels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return parcels to France, each with one of the slips."""
    french = [parcel for parcel in parcels if parcel["country"] == "France"]
    return [
        {**parcel, column: value}
        for parcel, (column, value) in zip(french, _SLIPS.values(), strict=False)
    ]


def _table(parcels: list[dict[str, Any]]) -> Any:
    return needs("pyarrow", "cli").Table.from_pylist(parcels)


def _document(model: Any, found: Explanations, false_alarms: int) -> dict[str, Any]:
    return {
        "rows": _LEARNED,
        "columns": [column.name for column in model.columns_ if column.role != "ignore"],
        "alpha": model.alpha_,
        "threshold": float(model.threshold_),
        "usual": {"rows": _NEW, "outliers": false_alarms},
        "mistakes": [
            {"mistake": mistake, "column": column, **parcel.to_dict()}
            for (mistake, (column, _)), parcel in zip(_SLIPS.items(), found, strict=True)
        ],
    }
