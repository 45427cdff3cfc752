"""The small print: what a model is, what can be relied on, and what cannot."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from refold.base.advice import in_words
from refold.base.findings import told
from refold.base.words import number, printable
from refold.judgement import asked_for, calibrated_on, training_rows
from refold.models.detector.scorer import MeanScorer, inside
from refold.models.feedback import in_short
from refold.models.scoring import FoldScorer

_LEFT_OUT = "left-out"


@dataclass(frozen=True)
class Card:
    """The small print."""

    facts: tuple[tuple[str, str], ...]  #: rows, columns, date, version, parameters and the like
    #: guarantees, limits: what can be relied on, and what cannot, a sentence each
    guarantees: tuple[str, ...]
    limits: tuple[str, ...]


def card_of(model: Any, about: Mapping[str, str]) -> Card:
    """Describe a fitted model; `about` adds facts that only the caller knows.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.cards import card_of
    >>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(300, 2)))
    >>> ("Line", "4") in card_of(model, {"Line": "4"}).facts
    True
    """
    return Card(
        facts=(*about.items(), *facts_of(model), *_beside(model)),
        guarantees=tuple(_guarantees(model)),
        limits=tuple(_limits(model)),
    )


def _missing(model: Any) -> float:
    """Return the share of the training table's cells that are empty."""
    if hasattr(model, "columns_"):
        used = [column.missing for column in model.columns_ if column.role != "ignore"]
        return float(sum(used) / (training_rows(model) * len(used)))
    summary = model.summary_
    return float(summary.missing.sum() / (summary.weight * len(summary.missing)))


def facts_of(model: Any) -> list[tuple[str, str]]:
    """Return what a model is and what it has learned from, by name."""
    left_out = [column.name for column in getattr(model, "columns_", ()) if column.role == "ignore"]
    facts = [
        ("Model", asked_for(model)),
        ("Training rows", f"{training_rows(model):,}"),
        *(("Rows left out", str(found)) for found in model.noticed_ if found.kind == _LEFT_OUT),
        ("Columns", f"{model.n_features_in_:,}"),
        *([("Columns left out", ", ".join(left_out))] if left_out else []),
        *_context(model),
        ("Missing values in training", f"{_missing(model):.2%}"),
        ("Threshold", number(model.threshold_)),
        ("Alpha", _alpha(model)),
        ("Calibration", calibrated_on(model)),
    ]
    if hasattr(model, "chain_"):
        facts.append(("Levels of folding", f"{int(model.chain_.levels.max())} at most"))
        facts.append(("Engine", model.engine_))
    if feedback := in_short(getattr(model, "feedback_", ())):
        facts.append(("Feedback", feedback))
    return facts


def _context(model: Any) -> list[tuple[str, str]]:
    """Return by what rows are judged, how many groups there are, and until when was learned."""
    encoder = getattr(model, "encoder_", None)
    if encoder is None or encoder.context is None or not encoder.context.given.names:
        return []
    context = encoder.context
    groups = f"{len(context.groups.keys):,} groups" if context.given.by else ""
    said = [", ".join(map(printable, context.given.names)), groups, context.learned_until]
    return [("Judged by", "; ".join(filter(None, said)))]


def _beside(model: Any) -> list[tuple[str, str]]:
    """Return what was noticed, and when that was."""
    return [
        *(("Noticed", text) for text in noticed_by(model)),
        ("refold", version("refold")),
        ("With", ", ".join(f"{name} {found}" for name, found in _versions())),
        ("Written", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
    ]


def _versions() -> list[tuple[str, str]]:
    packages = {"NumPy": "numpy", "SciPy": "scipy", "scikit-learn": "scikit-learn"}
    python = ("Python", platform.python_version())
    return [python, *((name, version(package)) for name, package in packages.items())]


def noticed_by(model: Any) -> list[str]:
    """Return what a model has noticed, a sentence each, without what is a fact of its own."""
    findings = (found for found in model.noticed_ if found.kind != _LEFT_OUT)
    return list(told(findings, in_words))


def _alpha(model: Any) -> str:
    alpha = getattr(model, "alpha_", None)
    return "none: the threshold was set without a rate" if alpha is None else f"{alpha:g}"


def _guarantees(model: Any) -> list[str]:
    said = []
    alpha, calibration = getattr(model, "alpha_", None), getattr(model, "calibration_", None)
    if alpha is not None and calibration is not None:
        rate = f"{100.0 * alpha:g} %"
        if calibration.source == "held-out":
            said.append(
                f"A new normal row is called an outlier with a probability of at most {rate}, "
                "whatever the distribution, as long as it comes from the same source as the "
                "calibration rows (split conformal prediction)."
            )
        else:
            said.append(
                f"About {rate} of normal rows are called outliers. The rate was set on training "
                "rows that the judging model had not seen; it is measured, not proven."
            )
    if calibration is not None:
        said.append(
            "P-values say how rare a row's distance is among normal rows; the smallest possible is "
            f"{1.0 / (calibration.total + 1.0):.2g}."
        )
    if model.scorer().additive:
        said.append("Reasons are exact: the shares of a row's columns add up to its distance.")
    said.append("A row's result does not depend on the other rows of the table.")
    return said


def _limits(model: Any) -> list[str]:
    said = [
        "An outlier is unlike the training rows, not necessarily broken; a normal row is like "
        "them, not necessarily good. Faults that were in the training rows count as normal.",
        "Rates hold as long as rows come from the same source as in training. They do not hold "
        "after the data has changed; refold drift tests for that.",
    ]
    if getattr(model, "alpha_", None) is None:
        said.append("The threshold was not set for a rate, so no rate of false alarms is promised.")
    if isinstance(inside(model.scorer()), FoldScorer):
        said.append(
            "Each feature is judged by itself: a row whose values are all usual, but not in this "
            "combination, is not found."
        )
    if isinstance(inside(model.scorer()), MeanScorer):
        said.append(
            "Each column is judged by itself and beside the one that tells most about it: a row "
            "whose values are unusual only in another combination is not found."
        )
    if not model.scorer().additive and not model.scorer().unexplained:
        said.append(
            "Reasons are estimates: columns share what they have in common, so their parts do not "
            "add up to the distance."
        )
    said.append(_rates_of_groups(_by(model)))
    return said


def _rates_of_groups(by: Sequence[str]) -> str:
    if by:
        return (
            f"Rates hold for each group by {', '.join(map(printable, by))}, because its spread is "
            "learned; in groups of few training rows they vary more. They do not hold for other "
            "subsets: rows with many gaps, for example, may be called outliers more often."
        )
    return (
        "Rates hold for all rows together, not for each group of them: rows with many gaps, for "
        "example, may be called outliers more often."
    )


def _by(model: Any) -> Sequence[str]:
    context = getattr(getattr(model, "encoder_", None), "context", None)
    return () if context is None else tuple(context.given.by)
