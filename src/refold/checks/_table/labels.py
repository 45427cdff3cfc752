"""Columns that say what a model is to find out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from refold.base.advice import set_role
from refold.base.findings import Finding
from refold.base.words import percent, quoted
from refold.checks._table.cells import LISTED
from refold.checks._table.table import CheckedColumn, CheckedTable
from refold.columns.name_hints import words
from refold.columns.table import TextColumn, as_texts
from refold.columns.text_cells import word_set

# A label if the whole name is this word, and some value is rare; if it is one of the words.
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
_FEW, _MANY = 5, 50  # different values; more than a few if one of them is "normal"
_RARE = 0.35  # the share of the rarest


def notice_labels(table: CheckedTable) -> Iterator[Finding]:
    """Find columns that say which rows are normal: by their name, or by what they say.

    Yields
    ------
    Finding
        ``"leak"``, at most one for a column.
    """
    for column, some in zip(table.columns, table.sample.columns, strict=True):
        if column.role == "date" or column.cells is None:
            continue
        few = some.numbers is None or len(np.unique(some.numbers[:1000])) <= _MANY
        texts = as_texts(column.observed) if few else None
        if texts is not None and 2 <= np.count_nonzero(texts.counts) <= _MANY:
            yield from _label(column, texts)


def _label(column: CheckedColumn, texts: TextColumn) -> Iterator[Finding]:
    share = texts.counts / texts.counts.sum()
    rarest = float(share[texts.counts > 0].min())
    said = {value.strip().lower().strip(".") for value in texts.values}
    by_value = bool(said & _NORMAL) and bool(said & _ABNORMAL) and said <= _NORMAL | _ABNORMAL
    few = len(said) <= _FEW or bool(said & _NORMAL)
    if not by_value and not (_is_named(column.name) and few and rarest <= _RARE):
        return
    usual = int(texts.counts.argmax())
    odd = np.flatnonzero((texts.codes >= 0) & (texts.codes != usual))
    others = [v for k, v in enumerate(texts.values) if k != usual and texts.counts[k]]
    yield Finding(
        kind="leak",
        message=f"{column.name} seems to say which rows are normal: {quoted(texts.values[usual])} "
        f"in {percent(share[usual])} of the rows, else "
        f"{' or '.join(map(quoted, others[:_FEW]))}.",
        column=column.name,
        rows=tuple(odd[:LISTED].tolist()),
        values=(texts.values[usual], *others),
        advice=set_role(
            "Learn from normal rows only: leave out the other rows, and this column",
            column.name,
            "ignore",
        ),
    )


def _is_named(name: str) -> bool:
    parts = words(name)
    bare = [part for part in parts if part not in ("is", "the", "has")]
    return (len(bare) == 1 and bare[0] in _ALONE) or any(part in _ALWAYS for part in parts)
