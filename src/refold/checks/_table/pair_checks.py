"""Columns that say the same as another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from refold._typing import Floats, Integers
from refold.base.advice import set_role
from refold.base.findings import Finding
from refold.base.words import number
from refold.checks._table.checked_table import CheckedColumn, CheckedTable

_LEAST_ROWS = 30  # fewer than these go together by chance
_VARIOUS = 20  # different numbers; fewer are ordered alike by chance
_LINE = 0.9995  # the correlation of ranks of columns that are a function of each other
_WRONG = 0.01  # the share of rows in which a column may not follow from another one, …
_SLACK = 1e-3  # … by more than such a part of its range: numbers are rounded
_FINE = 0.3  # the coarser of two columns has so many different values for each of the finer one
_EXCEPTIONS = 0.002  # the share of rows in which names may go with another name than usual


def notice_pairs(table: CheckedTable) -> Iterator[Finding]:
    """Find columns that are the same as an earlier one, and those that say the same.

    The former by a checksum, so that it takes as long as reading; the latter among up to 500
    columns and 10,000 rows.
    """
    copies: set[str] = set()
    for column, first in _copies(list(table.used)):
        copies.add(column.name)
        yield _duplicate(column.name, first.name)
    if table.rows < _LEAST_ROWS:
        return
    different = [c for c in table.some_columns.sample.used if c.name not in copies]
    numbers = [column for column in different if column.numbers is not None]
    yield from _ordered_alike(numbers)
    yield from _renamed([c for c in different if c.texts is not None and c.role == "category"])


def _copies(columns: Sequence[CheckedColumn]) -> Iterator[tuple[CheckedColumn, CheckedColumn]]:
    """Yield columns with an earlier one that has the same value in every row."""
    seen: dict[bytes, CheckedColumn] = {}
    for column in columns:
        if (column.bits == column.bits[0]).all():
            continue
        first = seen.setdefault(_checksum(column), column)
        if first is not column:
            yield column, first


def _checksum(column: CheckedColumn) -> bytes:
    """Return what only columns share that have the same values in all rows."""
    digest = blake2b(column.role.encode())
    if column.texts is None:
        digest.update(column.bits.tobytes())
    else:
        codes, values = _by_first_row(column.texts.codes, column.texts.values)
        digest.update(codes.tobytes() + "\0".join(values).encode("utf-8", "backslashreplace"))
    return digest.digest()


def _by_first_row(codes: Integers, values: Sequence[str]) -> tuple[Integers, list[str]]:
    """Give texts numbers in the order in which they first come."""
    first = np.full(len(values) + 1, len(codes), dtype=np.int64)
    np.minimum.at(first, codes, np.arange(len(codes)))
    order = np.argsort(first[:-1], kind="stable")
    place = np.empty(len(values) + 1, dtype=np.int64)
    place[order], place[-1] = np.arange(len(values)), -1
    return place[codes], [values[k] for k in order.tolist() if first[k] < len(codes)]


def _duplicate(name: str, first: str) -> Finding:
    return Finding(
        kind="duplicate-column",
        message=f"{name} is the same as {first} in every row.",
        column=name,
        values=(first,),
        advice=set_role("It counts twice. To leave it out", name, "ignore"),
    )


def _ordered_alike(columns: Sequence[CheckedColumn]) -> Iterator[Finding]:
    """Find numbers that go up, or down, exactly as those of another column do."""
    ranked = [(column, ranks) for column in columns if (ranks := _ranks(column)) is not None]
    if len(ranked) < 2:
        return
    Z = np.column_stack([ranks for _, ranks in ranked])
    together = np.tril(Z.T @ Z, k=-1)
    for j in range(1, len(ranked)):
        i = int(np.abs(together[j, :j]).argmax())
        one, other, rises = ranked[i][0], ranked[j][0], bool(together[j, i] > 0.0)
        if abs(together[j, i]) >= _LINE and _same_gaps(one, other) and _holds(one, other, rises):
            yield _dependent(other, one, rises=rises)


def _ranks(column: CheckedColumn) -> Floats | None:
    """Return ranks of length 1 around 0; None of a column with few different values."""
    values = column.numbers
    assert values is not None
    there = ~np.isnan(values)
    different, place, counts = np.unique(values[there], return_inverse=True, return_counts=True)
    if len(different) < _VARIOUS:
        return None
    middle = np.cumsum(counts) - (counts + 1) / 2.0
    ranks = np.zeros(len(values))
    ranks[there] = middle[place] - middle[place].mean()
    return np.asarray(ranks / np.linalg.norm(ranks))


def _same_gaps(one: CheckedColumn, other: CheckedColumn) -> bool:
    """Whether values are missing in about the same rows."""
    return bool(np.mean(one.missing != other.missing) <= _EXCEPTIONS)


def _holds(one: CheckedColumn, other: CheckedColumn, rises: bool) -> bool:
    """Whether the coarser of two columns is a rising, or falling, function of the other.

    In nearly every row, but for those where both have their usual value: the finer column's value
    then says that of the coarser one, which has not far fewer values.
    """
    assert one.numbers is not None
    assert other.numbers is not None
    there = ~np.isnan(one.numbers) & ~np.isnan(other.numbers)
    x, y = one.numbers[there], other.numbers[there]
    (values, place, counts), (others, _, _) = (
        np.unique(v, return_inverse=True, return_counts=True) for v in (x, y)
    )
    if len(values) < len(others):
        x, y, values, others = y, x, others, values
        place, counts = np.unique(x, return_inverse=True, return_counts=True)[1:]
    if len(others) < _FINE * len(values):
        return False
    order = np.argsort(x, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    usual = y[order][starts + counts // 2]  # of each value, that of a row in the middle
    slack = _SLACK * float(np.ptp(others))
    off = np.abs(y - usual[place]) > slack
    best = np.maximum.accumulate(usual) if rises else np.minimum.accumulate(usual)
    off |= (np.abs(best - usual) > slack)[place]
    common = values[counts.argmax()]
    apart = x != common if counts.max() > len(x) / 2 else np.ones(len(x), dtype=np.bool_)
    return bool(off[apart].mean() <= _WRONG)


def _dependent(column: CheckedColumn, other: CheckedColumn, *, rises: bool) -> Finding:
    how = _line(column, other)
    if how is None:
        how = f"goes up and down with {other.name}" if rises else f"goes down as {other.name} rises"
    return _said(column.name, other.name, f"{column.name} {how} in nearly every row.")


def _line(column: CheckedColumn, other: CheckedColumn) -> str | None:
    """Return the line that nearly all rows of two columns are on; None if there is none."""
    y, x = column.numbers, other.numbers
    assert y is not None
    assert x is not None
    both = ~np.isnan(y) & ~np.isnan(x)
    with np.errstate(all="ignore"):  # from one end of the numbers to the other
        slope, offset = np.polynomial.Polynomial.fit(x[both], y[both], 1).convert().coef[[-1, 0]]
        off = np.abs(y[both] - offset - slope * x[both])
        if not np.mean(off < 1e-3 * np.ptp(y[both])) >= 1.0 - _WRONG:
            return None
        small = abs(offset) < 1e-3 * np.abs(y[both]).max()
    if small and number(slope) == "1":
        return f"is about the same as {other.name}"
    if small:
        return f"is {number(slope)} times {other.name}"
    return (
        f"is {number(slope)} times {other.name} {'+' if offset > 0 else '−'} {number(abs(offset))}"
    )


def _renamed(columns: Sequence[CheckedColumn]) -> Iterator[Finding]:
    """Find names that go with one name of another column each, and the other way round."""
    coded = [(c.texts.codes + 1, c) for c in columns if c.texts is not None]
    # Such columns have about the same entropy: only neighbours are compared.
    order = sorted(((_entropy(codes), k) for k, (codes, _) in enumerate(coded)))
    for (low, i), (high, j) in pairwise(order):
        if low < 0.1 or high - low > 0.05:
            continue
        (a, one), (b, other) = coded[min(i, j)], coded[max(i, j)]
        if _one_to_one(a, b) and one.texts is not None and len(one.texts.values) > 2:
            yield _said(
                other.name,
                one.name,
                f"{other.name} says the same as {one.name}: each value of one goes with one of the "
                "other.",
            )


def _entropy(codes: Integers) -> float:
    share = np.bincount(codes) / len(codes)
    return float(-np.sum(share[share > 0.0] * np.log(share[share > 0.0])))


def _one_to_one(a: Integers, b: Integers) -> bool:
    pairs, counts = np.unique(a * (b.max() + 1) + b, return_counts=True)
    for codes in (pairs // (b.max() + 1), pairs % (b.max() + 1)):
        usual = np.zeros(codes.max() + 1, dtype=np.int64)
        np.maximum.at(usual, codes, counts)
        if len(a) - usual.sum() > _EXCEPTIONS * len(a):
            return False
    return True


def _said(name: str, other: str, message: str) -> Finding:
    return Finding(
        kind="dependent",
        message=message,
        column=name,
        values=(other,),
        advice=set_role(
            "Together they count twice; a row in which they disagree stands out. To leave it out",
            name,
            "ignore",
        ),
    )
