"""Columns that say what a model is to find out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from refold.base.advice import set_role
from refold.base.findings import Finding
from refold.base.words import percent, quoted
from refold.columns.name_hints import name_words, word_set
from refold.columns.table import NumberColumn, Table, TextColumn, as_texts

# A label if the whole name is this word, or ends with one of these, and the values look like it.
_ALONE = word_set(
    "class label labels target outcome y result churn attrition diagnosis verdict ground truth "
    "groundtruth klasse"
)
_ALWAYS = word_set(
    "anomaly anomalies anomalous outlier outliers fraud fraudulent attack intrusion malicious "
    "defect defective faulty malware anomalie betrug label"
)
_NORMAL = word_set(
    "normal inlier ok benign regular legit legitimate genuine pass passed good healthy usual "
    "nominal"
)
_ABNORMAL = word_set(
    "anomaly anomalous abnormal outlier fraud fraudulent attack intrusion malicious malignant nok "
    "fail failed faulty fault defect defective bad sick unusual"
)
# What stands beside these words in a name.
_BESIDE = word_set("is the has flag bool type ind indicator status reported found detected cat")
# How a choice of yes or no is written.
_CHOICES = tuple(
    frozenset(pair.split())
    for pair in (
        *("0 1", "-1 1", "no yes", "n y", "false true", "f t", "neg pos", "negative positive"),
        *("- +", "nein ja", "non oui", "0.0 1.0", "-1.0 1.0"),
    )
)
_LISTED = 100  # rows
_FEW, _MANY = 5, 50  # different values; more than a few if one of them is "normal"
_RARE = 0.35  # the share of rows that are not normal, at most
_VERY_RARE = 0.1  # so few need no other column to say that they are of another kind
# How well one other column tells these rows from the others, of at least so many.
_SEPARATES, _LEAST_ROWS = 0.8, 10


def find_labels(table: Table, roles: Sequence[str]) -> Iterator[Finding]:
    """Find columns that say which rows are normal: by what they say, or by their name and more."""
    for (name, column), role in zip(table.items(), roles, strict=True):
        if role in ("date", "ignore", "identifier"):
            continue
        if isinstance(column, NumberColumn) and not (
            any(_named(name)) and len(np.unique(column.values[:1000])) <= _MANY
        ):
            continue  # it has no words that would say so
        texts = as_texts(column)
        if 2 <= np.count_nonzero(texts.counts) <= _MANY:
            yield from _label(table, name, texts)


def _label(table: Table, name: str, texts: TextColumn) -> Iterator[Finding]:
    share = texts.counts / texts.counts.sum()
    there = [texts.values[k] for k in np.flatnonzero(texts.counts).tolist()]
    said = {value.strip().lower().strip(".") for value in there}
    usual = int(texts.counts.argmax())
    mostly = texts.values[usual].strip().lower().strip(".")
    if not _is_label(table, name, texts, said, mostly, 1.0 - float(share[usual])):
        return
    odd = np.flatnonzero((texts.codes >= 0) & (texts.codes != usual))
    others = [value for value in there if value != texts.values[usual]]
    yield Finding(
        kind="leak",
        message=f"{name} seems to say which rows are normal: {quoted(texts.values[usual])} "
        f"in {percent(share[usual])} of the rows, else "
        f"{' or '.join(map(quoted, others[:_FEW]))}.",
        column=name,
        rows=tuple(odd[:_LISTED].tolist()),
        values=(texts.values[usual], *others),
        advice=set_role(
            "Learn from normal rows only: leave out the other rows, and this column",
            name,
            "ignore",
        ),
    )


def _is_label(
    table: Table, name: str, texts: TextColumn, said: set[str], mostly: str, rare: float
) -> bool:
    """Whether a column has the values of a label, or its name and what else a label has.

    That is a choice of yes or no (or of "normal" and other words) in which one is rare, under a
    name that says nothing else; where it is not very rare, or the name may mean something else,
    another column tells the rare rows from the others.
    """
    if bool(said & _NORMAL) and bool(said & _ABNORMAL) and said <= _NORMAL | _ABNORMAL:
        return True
    alone, always = _named(name)
    if not (alone or always) or rare > _RARE:
        return False
    # Of many results one may be "sick" and say nothing of the others.
    if mostly in _NORMAL or (len(said) == 2 and said & (_NORMAL | _ABNORMAL)):
        return True
    choice = any(said == pair for pair in _CHOICES)
    if not choice and not (always and len(said) <= _FEW):
        return False
    return rare <= _VERY_RARE or _separated(table, name, texts)


def _named(name: str) -> tuple[bool, bool]:
    """Whether the name may be that of a label, and whether it says so."""
    bare = [part for part in name_words(name) if part not in _BESIDE]
    return len(bare) == 1 and bare[0] in _ALONE, bool(bare) and bare[-1] in _ALWAYS


def _separated(table: Table, name: str, texts: TextColumn) -> bool:
    """Whether some column of numbers tells the rare rows from the others (area under the ROC)."""
    rare = (texts.codes >= 0) & (texts.codes != int(texts.counts.argmax()))
    for other, column in table.items():
        if other == name or not isinstance(column, NumberColumn):
            continue
        there = ~np.isnan(column.values) & (texts.codes >= 0)
        _, group, times = np.unique(column.values[there], return_inverse=True, return_counts=True)
        ranks, odd = (np.cumsum(times) - (times - 1.0) / 2.0)[group], rare[there]
        n, m = int(odd.sum()), int((~odd).sum())
        if min(n, m) < _LEAST_ROWS:
            continue
        area = (ranks[odd].sum() / n - (n + 1.0) / 2.0) / m
        if max(area, 1.0 - area) >= _SEPARATES:
            return True
    return False
