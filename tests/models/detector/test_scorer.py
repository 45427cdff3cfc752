"""What is novel, beyond zero or outside the user's limits comes on top of the estimator inside."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from refold import Detector
from refold.columns.encoding.counts import Encoded
from refold.decisions.rules import NO_RULES
from refold.models.detector.scorer import FARTHEST, MeanScorer, TableScorer, pack
from refold.models.scoring import Attribution

UNIT = 0.25


@dataclasses.dataclass
class Sizes:
    """Judges by the sizes of features, NaN for nothing; expects a tenth of each."""

    additive = False
    unexplained = "why"

    def distances(self, X):
        return np.nansum(np.abs(X), axis=1)

    def attribution(self, X):
        size = np.nan_to_num(np.abs(X))
        return Attribution(self.distances(X), size, X / 10.0, size / 2.0)


def encoded(rng, n=50):
    """Two numbers, a category with two indicators, a text: four columns, eight features."""
    numbers = rng.normal(size=(n, 2))
    numbers[rng.random((n, 2)) < 0.1] = np.nan
    magnitudes = rng.exponential(size=(n, 4))
    magnitudes[3, 1] = 3.0 * FARTHEST
    novel = rng.random((n, 4)) < 0.2
    judged = np.arange(n) % 10 != 7
    return Encoded(numbers, rng.integers(0, 2, (n, 2)) * 1.0, magnitudes, novel, judged)


@pytest.fixture
def table(rng):
    return encoded(rng)


def scorer_of(inside, **options):
    leading = np.array([0, 2, 1, 1])  # of which columns the features before the magnitudes are
    return TableScorer(inside, np.array([0, 2]), leading, 4, UNIT, NO_RULES, **options)


def test_what_was_packed_is_unpacked(table):
    scorer, packed = scorer_of(Sizes()), pack(table)
    rows, novel = scorer.unpack(packed)
    assert np.isnan(packed[~table.judged]).all()
    np.testing.assert_array_equal(novel[table.judged], table.novel[table.judged])
    assert novel[~table.judged].all()
    small = np.minimum(table.magnitudes, FARTHEST)
    whole = np.hstack([table.numbers, table.indicators, small])
    np.testing.assert_allclose(rows[table.judged], whole[table.judged], rtol=1e-12)
    np.testing.assert_array_equal(scorer.numbers(packed)[table.judged], table.numbers[table.judged])
    np.testing.assert_allclose(scorer.magnitudes(packed)[table.judged], small[table.judged])
    assert (scorer.width, scorer.unexplained, scorer.additive) == (8, "why", False)


@pytest.mark.parametrize("novel", [False, True])
def test_numbers_alone_are_packed_as_they_are(novel, rng):
    numbers = rng.normal(size=(20, 3))
    numbers[4] = np.nan
    marks = (rng.random((20, 3)) < 0.2) & novel
    marks[4] = False
    judged = np.arange(20) != 4
    nothing = np.empty((20, 0))
    packed = pack(Encoded(numbers, nothing, nothing, marks, judged))
    scorer = TableScorer(Sizes(), np.arange(3), np.arange(3), 3, UNIT)
    rows, found = scorer.unpack(packed)
    np.testing.assert_array_equal(rows, np.where(marks, np.nan, numbers))
    np.testing.assert_array_equal(found[judged], marks[judged])
    assert found[4].all()
    expected = np.nansum(np.abs(rows), axis=1) + 10.0 * UNIT * found.sum(axis=1)
    np.testing.assert_allclose(scorer.distances(packed), expected)
    assert (scorer.width, scorer.magnitudes(packed).shape) == (3, (20, 0))


@pytest.mark.parametrize("inside", [Sizes(), MeanScorer(4)], ids=["sizes", "mean"])
@pytest.mark.parametrize("flagged", [False, True])
@pytest.mark.parametrize("unit", [UNIT, 0.0])
def test_distances_and_parts_are_those_inside_and_what_is_certain(
    inside, flagged, unit, table, rng
):
    scorer, rows = dataclasses.replace(scorer_of(inside), unit=unit), pack(table)
    violated, muted = np.zeros((50, 4), dtype=bool), np.zeros(50, dtype=bool)
    if flagged:
        violated, muted = rng.random((50, 4)) < 0.1, rng.random(50) < 0.2
        rows = np.hstack([rows, violated, muted[:, None]])
    for ours, theirs in zip(scorer.flags(rows), (violated, muted), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    plain = np.hstack([table.numbers, table.indicators, np.minimum(table.magnitudes, FARTHEST)])
    within = np.where(table.judged, inside.distances(plain), 0.0)
    novel = table.novel | ~table.judged[:, None]
    sure = 10.0 * unit * novel + 1000.0 * (unit or 1.0) * violated
    expected = np.where(muted, 0.0, within + sure.sum(axis=1))
    np.testing.assert_allclose(scorer.distances(rows), expected, rtol=1e-12)
    found = scorer.attribution(rows)
    np.testing.assert_allclose(found.distances, expected, rtol=1e-12)
    by_feature = inside.attribution(plain).parts
    own = by_feature[:, 4:].copy()
    for feature, column in enumerate(scorer.leading):
        own[:, column] += by_feature[:, feature]
    parts = np.where(muted[:, None], 0.0, own * table.judged[:, None] + sure)
    np.testing.assert_allclose(found.parts, parts, rtol=1e-12)
    np.testing.assert_allclose(found.parts.sum(axis=1), expected, rtol=1e-9)
    if isinstance(inside, MeanScorer):
        assert found.expected is None is found.alone
        return
    told = np.full((50, 4), np.nan)
    told[:, [0, 2]] = table.numbers / 10.0
    told[~table.judged] = np.nan
    np.testing.assert_allclose(found.expected, told)
    np.testing.assert_allclose(found.alone, own / 2.0 * table.judged[:, None], rtol=1e-12)


def test_rows_without_any_value_are_judged_too(table):
    scorer = scorer_of(Sizes())
    rows = pack(dataclasses.replace(table, judged=np.zeros(50, dtype=bool)))
    np.testing.assert_allclose(scorer.distances(rows), 4 * 10.0 * UNIT)
    found = scorer.attribution(rows)
    np.testing.assert_allclose(found.parts, 10.0 * UNIT)
    np.testing.assert_allclose(found.distances, 4 * 10.0 * UNIT)


def test_numbers_beyond_zero_of_a_column_that_never_crosses_it_are_novel():
    ends = np.array([0.0, -np.inf]), np.array([np.inf, 0.0])
    scorer = TableScorer(Sizes(), np.arange(2), np.arange(2), 2, UNIT, zero_ends=ends)
    rows = np.array([[0.0, 0.0], [-1e-9, -1.0], [1.0, 1e-9], [-2.0, 2.0], [np.nan, 1.0]])
    beyond = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0, 1]])
    np.testing.assert_array_equal(scorer.unpack(rows)[1], beyond == 1)
    expected = np.nansum(np.abs(rows), axis=1) + 10.0 * UNIT * beyond.sum(axis=1)
    np.testing.assert_allclose(scorer.distances(rows), expected)
    for row, distance in zip(rows, expected, strict=True):
        np.testing.assert_allclose(scorer.distances(row[None]), distance)


@pytest.mark.parametrize("by", [None, "machine"])
def test_a_number_on_the_other_side_of_zero_is_novel_but_for_numbers_in_their_context(by, rng):
    a, b = rng.normal(size=400), rng.exponential(size=400)
    table = pd.DataFrame({"a": a, "b": b, "machine": np.resize(["A", "B"], 400)})
    columns = ["a", "b", *([by] if by else [])]
    scorer = Detector(method="ref", by=by, n_jobs=1).fit(table[columns]).scorer()
    _, novel = scorer.unpack(np.array([[-0.5, -1e-3], [-99.0, 0.5], [0.5, 99.0]]))
    assert novel.tolist() == [[False, by is None], [False, False], [False, False]]


def test_the_mean_of_magnitudes_adds_up_column_by_column(rng):
    scorer, rows = MeanScorer(2), rng.exponential(size=(20, 5))
    found = scorer.attribution(rows)
    assert scorer.additive
    np.testing.assert_allclose(found.parts.sum(axis=1), scorer.distances(rows), rtol=1e-12)
