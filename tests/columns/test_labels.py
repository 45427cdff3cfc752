"""Columns that say which rows are normal: by words, or by name, share and what tells rows apart."""

import numpy as np
import pytest

from refold.columns.labels import find_labels
from refold.columns.table import NumberColumn, Table
from tests.columns.tables import texts


def cells(usual, odd, share, rows=200):
    """A column in which a share of the rows has the odd value: the last ones."""
    many = round(rows * share)
    return [usual] * (rows - many) + [odd] * many


def found(name, values, beside=None, role="category"):
    column = NumberColumn(np.array(values)) if isinstance(values[0], float) else texts(values)
    other = np.random.default_rng(0).normal(size=len(values)) if beside is None else beside
    table = Table([name, "x"], [column, NumberColumn(other)], len(values))
    return list(find_labels(table, [role, "number"]))


def apart(values, overlap=0.0):
    """Numbers that tell the rare rows from the others, some of them wrongly."""
    rng = np.random.default_rng(1)
    usual = max(set(values), key=values.count)
    odd = np.array([value != usual for value in values])
    return np.where(odd & (rng.random(len(odd)) >= overlap), 5.0, 0.0) + 0.1 * rng.normal(
        size=len(odd)
    )


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
def test_words_for_normal_and_abnormal_are_a_label_whatever_the_name_and_share(share):
    (said,) = found("grp", cells("OK", "fail.", share))
    assert said.kind == "leak"
    assert said.column == "grp"
    first = round(200 * (1.0 - share))
    if share < 0.5:
        assert said.rows == tuple(range(first, 200))[:100]
    assert found("grp", cells("ok", "good", share)) == []
    assert found("grp", [*cells("ok", "fail", share), "blue"]) == []


@pytest.mark.parametrize("role", ["date", "ignore", "identifier"])
def test_what_is_not_learned_from_is_no_label(role):
    assert found("label", cells("OK", "fail", 0.05), role=role) == []


@pytest.mark.parametrize(
    ("name", "values", "label"),
    [
        ("target", cells(0.0, 1.0, 0.1), True),
        ("target", cells(0.0, 1.0, 0.11), False),  # not very rare, and nothing tells them apart
        ("is_fraud", cells("no", "yes", 0.1), True),
        ("has outlier flag", cells("N", "Y", 0.05), True),
        ("machine", cells("no", "yes", 0.05), False),
        ("target price", cells(0.0, 1.0, 0.05), False),
        ("outcome", cells("red", "blue", 0.05), False),
        ("outcome", cells("normal", "blue", 0.35), True),
        ("outcome", cells("normal", "blue", 0.36), False),
        ("outcome", cells("blue", "sick", 0.35), True),
        ("outcome", [*cells("blue", "sick", 0.1), "green"], False),
        ("attack", [*cells("calm", "dos", 0.02), "probe", "u2r", "r2l"], True),
        ("attack", [*cells("calm", "dos", 0.02), "probe", "u2r", "r2l", "other"], False),
        ("attack", ["normal", *cells("normal", "dos", 0.02), *(f"a{k}" for k in range(48))], True),
        ("attack", [*cells("normal", "dos", 0.02, 300), *(f"a{k}" for k in range(49))], False),
        ("label", ["a"] * 200, False),
    ],
)
def test_a_label_has_the_name_of_one_and_a_rare_value(name, values, label):
    assert bool(found(name, values)) == label


@pytest.mark.parametrize(
    ("share", "overlap", "label"),
    [(0.3, 0.0, True), (0.3, 0.3, True), (0.3, 0.55, False), (0.35, 0.0, True), (0.36, 0.0, False)],
)
def test_rows_that_are_not_very_rare_are_told_apart_by_a_column(share, overlap, label):
    values = cells("0", "1", share)
    beside = apart(values, overlap)
    for column in (beside, -beside, np.where(np.arange(200) % 7, beside, np.nan)):
        assert bool(found("target", values, column)) == label


def test_fewer_than_ten_rare_rows_are_told_apart_by_chance():
    for rows, label in ((10, True), (9, False)):
        values = cells("0", "1", rows / 80, 80)
        assert bool(found("target", values, apart(values))) == label


def test_the_rows_that_are_not_normal_are_named_wherever_they_stand():
    values = [*["fail"] * 3, None, *["OK"] * 90, "fail"]
    (said,) = found("grp", values)
    assert said.rows == (0, 1, 2, 94)
    assert said.values == ("OK", "fail")


@pytest.mark.parametrize(("ones", "label"), [(43, True), (41, False)])
def test_equal_numbers_tell_rows_apart_by_half(ones, label):
    values = cells("0", "1", 0.3)
    usual = np.arange(140) < 15
    odd = np.arange(60) < ones  # the area is (1 + ones / 60 - 15 / 140) / 2
    beside = np.append(usual, odd).astype(float)
    for column in (beside, -beside):
        assert bool(found("target", values, column)) == label
        assert bool(found("target", values[::-1], column[::-1])) == label
        gaps = [*values, *[None] * 50]
        assert bool(found("target", gaps, np.append(column, np.full(50, 9.0)))) == label
