"""``refold demo``: learn from benign cases, and say which new ones are outliers, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refold.base.needs import needs
from refold.base.words import printable
from refold.cli import options

if TYPE_CHECKING:
    from refold.explanation import Explanations

_LEARNED, _ALPHA, _SHOWN, _REASONS = 300, 0.05, 3, 3


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path(
        "report.html"
    ),
    as_json: options.AsJson = False,
) -> None:
    """Learn from benign breast-cancer cases only, and say which new ones are outliers, and why.

    The data (569 cases, 30 measurements of cell nuclei each) comes with scikit-learn; nothing is
    downloaded. A report on the new cases is written at the end.

    For example:
      refold demo
      refold demo -o demo.html
    """
    options.check_output(out)
    from refold import REF
    from refold.explanation import explain
    from refold.report import write_report

    normal, new = _cases()
    names = list(normal)
    model = REF(levels="all", alpha=_ALPHA).fit(_frame(normal))
    found = {kind: explain(model, _frame(cases), reasons=_REASONS) for kind, cases in new.items()}
    write_report(model, _frame(_together(new)), out, title="New cases", row_names=_labels(new))
    if as_json:
        options.print_json({**_document(model, names, found), "report": str(out)})
        return
    options.say(f"Learned from {_LEARNED} benign cases, {len(names)} measurements each.\n")
    for kind, cases in found.items():
        options.say(
            f"  {len(cases):3} new {kind:9} cases: {100 * _rejected(cases):5.1f} % are outliers"
        )
    options.say(f"\nOf benign cases about {100 * _ALPHA:g} % should be.")
    for kind, cases in found.items():
        options.say(f"\nThe worst of the {kind} cases, and why:\n")
        options.say("\n\n".join(case.text(_REASONS) for case in cases.worst(_SHOWN)))
    options.say(f"\nAll of it, to look at in a browser: {printable(str(out))}")


def _cases() -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return benign cases to learn from, and new ones of both kinds, as named columns."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    benign, malignant = data.data[data.target == 1], data.data[data.target == 0]
    tables = [
        dict(zip(data.feature_names.tolist(), rows.T, strict=True))
        for rows in (benign[:_LEARNED], benign[_LEARNED:], malignant)
    ]
    return tables[0], {"benign": tables[1], "malignant": tables[2]}


def _together(new: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the cases of all kinds as one table."""
    import numpy as np

    kinds = list(new.values())
    return {name: np.concatenate([cases[name] for cases in kinds]) for name in kinds[0]}


def _labels(new: dict[str, dict[str, Any]]) -> list[str]:
    """Return "benign 0", "benign 1", …: numbers as in the text."""
    return [
        f"{kind} {row}"
        for kind, cases in new.items()
        for row in range(len(next(iter(cases.values()))))
    ]


def _frame(columns: dict[str, Any]) -> Any:
    return needs("pyarrow", "cli").table(columns)


def _rejected(cases: Explanations) -> float:
    return sum(case.label == -1 for case in cases) / len(cases)


def _document(model: Any, names: list[str], found: dict[str, Any]) -> dict[str, Any]:

    return {
        "rows": _LEARNED,
        "features": names,
        "alpha": model.alpha_,
        "threshold": float(model.threshold_),
        "cases": [
            {
                "kind": kind,
                "rows": len(cases),
                "outliers": sum(case.label == -1 for case in cases),
                "worst": [case.to_dict() for case in cases.worst(_SHOWN)],
            }
            for kind, cases in found.items()
        ],
    }
