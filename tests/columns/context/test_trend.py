"""The span of time that was learned, levels over it, and which trend foresees later rows."""

import numpy as np
import pytest

from refold.base.errors import UserError
from refold.columns.context.trend import (
    FeatureLayout,
    Foreseen,
    TimeAxis,
    TrendFeatures,
    on_both_sides,
    origins,
    seconds,
    widened,
)
from refold.columns.table import DateColumn, NumberColumn, Table
from tests.columns.tables import texts

ORIGINS = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
DAY = 86_400.0


def at(*times):
    return Table(["t"], [NumberColumn(np.array(times, dtype=float))], len(times))


def axis(last=1.0):
    """From 100 on, 50 long, until so many times as long."""
    return TimeAxis("t", 100.0, 100.0 + 50.0 * last, 50.0)


def test_the_span_is_that_of_at_least_twenty_different_times():
    times = np.append(np.arange(20.0) + 5.0, [np.nan, 7.0])
    found = TimeAxis.learn(at(*times), "t")
    assert (found.begin, found.end, found.unit, found.last) == (5.0, 24.0, 19.0, 1.0)
    shares = found.shares(at(5.0, 14.5, 24.0, 43.0, np.nan))
    np.testing.assert_allclose(shares, [0.0, 0.5, 1.0, 2.0, 1.0])
    later = found.plus_rows(at(43.0, np.nan, 8.0))
    assert (later.begin, later.end, later.unit, later.last) == (5.0, 43.0, 19.0, 2.0)
    assert found.plus_rows(at(8.0, np.nan)) == found
    with pytest.raises(UserError, match="has 19 different times; a trend needs at least 20"):
        TimeAxis.learn(at(*times[1:]), "t")


@pytest.mark.parametrize(
    ("days", "dated", "said"),
    [
        (100.0, True, "learned until 2026-03-01, tried 70 days ahead"),
        (3.0, True, "learned until 2026-03-01, tried 2 days ahead"),
        (2.0, True, "learned until 2026-03-01, tried 33.6 hours ahead"),
        (1.0, True, "learned until 2026-03-01 06:00:00, tried 16.8 hours ahead"),
        (1e3 / DAY, False, "learned until 1772344800, tried 700 ahead"),
    ],
)
def test_it_is_said_until_when_was_learned_and_how_far_ahead_was_tried(days, dated, said):
    end = np.datetime64("2026-03-01T06:00:00").astype("M8[s]").astype(float)
    assert TimeAxis("t", end - days * DAY, end, days * DAY).text(dated=dated) == said


def test_a_time_is_a_date_or_a_number():
    clock = DateColumn(np.array([3600.0]), has_date=False, has_clock=True)
    with pytest.raises(UserError, match="times of day without a date"):
        seconds(clock, "t")
    with pytest.raises(UserError, match="holds texts"):
        seconds(texts(["a"]), "t")
    day = DateColumn(np.array([DAY]), has_date=True, has_clock=False)
    assert seconds(day, "t").tolist() == [DAY]


@pytest.mark.parametrize(
    ("last", "width", "steps"),
    [(1.0, 1, 30), (1.01, 1, 31), (2.0, 1, 60), (2.01, 2, 31), (4.0, 2, 60), (9.0, 8, 34)],
)
def test_the_level_has_thirty_to_sixty_steps_of_one_length(last, width, steps):
    features = TrendFeatures(axis(last))
    assert features.blocks == (1, steps)
    share = np.linspace(0.0, last + 1.0, 301)
    x = features.of(at(*(100.0 + 50.0 * share), np.nan)).toarray()
    np.testing.assert_allclose(x[:-1, 0], share - 1.0)
    level = x[:-1, 1:]
    begins = np.arange(steps) * width / 30.0
    expected = np.clip((share[:, None] - begins) * 30.0 / width, 0.0, 1.0)
    np.testing.assert_allclose(level, expected, atol=1e-12)
    np.testing.assert_allclose(x[-1], features.of(at(100.0 + 50.0 * last)).toarray()[0])
    ahead = features.beyond(np.array([last - 0.1, last, last + width / 10.0]))
    np.testing.assert_allclose(ahead, [0.0, 0.0, 3.0], atol=1e-9)


@pytest.mark.parametrize(("before", "after"), [(1.0, 1.0), (1.0, 1.4), (1.5, 2.3), (1.01, 8.5)])
def test_features_until_a_later_end_are_made_of_those_of_before(before, after):
    old, new = TrendFeatures(axis(before)), TrendFeatures(axis(after))
    rows = at(*(100.0 + 50.0 * np.linspace(0.0, before, 40)))
    # A coefficient of a longer step is that of all the steps that it is made of.
    coef = np.random.default_rng(0).normal(size=sum(new.blocks))
    pushed = old.within(new) @ coef
    np.testing.assert_allclose(old.of(rows) @ pushed, new.of(rows) @ coef, atol=1e-9)
    assert old.plus(new) == new.plus(old) == new
    assert old.plus_rows(at(100.0 + 50.0 * after)) == new
    with pytest.raises(UserError, match="decided apart"):
        old.plus(TrendFeatures(TimeAxis("t", 99.0, 150.0, 50.0)))


SHARE = np.arange(0.005, 1.0, 0.01)  # ten rows for each tenth


def per_origin(values, near=None):
    """For each origin a value for all later rows, and another for those of the next tenth."""
    made = []
    for k, origin in enumerate(ORIGINS):
        each = np.where(origin < SHARE, values[k], np.nan)
        if near is not None:
            each[(origin < SHARE) & (origin + 0.1 >= SHARE)] = near[k]
        made.append(each)
    return made


@pytest.mark.parametrize(
    ("gains", "better"),
    [
        ([0.01] * 5 + [-9.0] * 2, True),
        ([0.01] * 4 + [-0.01] * 3, False),
        ([0.01] * 4 + [0.0] * 3, False),
        ([0.11] * 3 + [-0.02] * 4, True),
        ([0.11] * 3 + [-0.021] * 4, False),
        ([0.09] * 3 + [-0.01] * 4, False),
        ([0.11] + [0.0] * 6, True),
        ([1.0] + [-0.25] + [0.0] * 5, True),
        ([1.0] + [-0.26] + [0.0] * 5, False),
    ],
)
def test_a_form_foresees_better_from_most_origins_or_clearly_and_others_lose_little(gains, better):
    nothing = Foreseen([], per_origin([0.0] * 7), SHARE)
    assert Foreseen([], per_origin(gains), SHARE).better_than(nothing) == better
    # It does so one tenth ahead and over all distances.
    good = [1.0] * 7
    assert not Foreseen([], per_origin(good, near=[-9.0] * 7), SHARE).better_than(nothing)
    for far, near in ((good, gains), (gains, good)):
        if not better or near is gains:  # the next tenth is a part of all
            found = Foreseen([], per_origin([10.0 * g for g in far], near=near), SHARE)
            assert found.better_than(nothing) == better or near is good
    assert not nothing.better_than(nothing)


def test_what_was_foreseen_is_counted_by_how_far_ahead_it_was(rng):
    z = [np.where(o < SHARE, rng.normal(scale=2.0, size=100), np.nan) for o in ORIGINS]
    z[2][70] = 40.0
    found = Foreseen(z, [], SHARE)
    widest, expected = 1.0, [1.0]
    for tenth in range(7):
        squares = [
            min(abs(z[k][row]), 5.0) ** 2
            for k in range(7)
            for row in range(30 + 10 * (k + tenth), min(40 + 10 * (k + tenth), 100))
        ]
        widest = max(widest, np.sqrt(np.mean(squares)))
        expected.append(widest)
    np.testing.assert_allclose(found.spread_ahead(), expected)
    one = [np.nan if row < 30 else z[row // 10 - 3][row] for row in range(100)]
    np.testing.assert_array_equal(found.one_ahead(), one)
    for origin, (before, after) in zip(ORIGINS, origins(SHARE), strict=True):
        assert before.sum() == round(100 * origin)
        assert (before ^ after).all()


@pytest.mark.parametrize(
    ("errors", "turned"), [([0.31] * 5 + [0.0] * 2, True), ([0.31] * 4 + [0.29] * 3, False)]
)
def test_errors_to_one_side_are_turned_to_both(errors, turned):
    scores = np.append(np.full(30, np.nan), np.repeat(errors, 10))
    for sign in (1.0, -1.0):
        signs = on_both_sides(sign * scores, SHARE)
        expected = np.ones(100)
        if turned:
            for k in (1, 3, 5):
                expected[30 + 10 * k : 40 + 10 * k] = -1.0
        np.testing.assert_array_equal(signs, expected)


def test_the_spread_grows_between_tenths_and_on_after_the_last():
    ahead = np.array([1.0, 1.2, 2.0])
    found = widened(ahead, np.array([0.0, 0.5, 1.5, 2.0, 3.0, 7.0]))
    np.testing.assert_allclose(found, [1.0, 1.1, 1.6, 2.0, 3.0, 7.0])
    assert widened(np.ones(1), np.array([0.0, 9.0])).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("trend", "form", "features", "blocks"),
    [
        (2, "none", [0, 1, 2, 3], [1, 3]),
        (2, "line", [0, 1, 2, 3, 4], [1, 3, 1]),
        (2, "level", [0, 1, 2, 3, 5, 6], [1, 3, 2]),
        (-1, "none", [0, 1, 2, 3, 4, 5, 6], [1, 3, 1, 2]),
    ],
)
def test_a_form_of_the_trend_has_its_features(trend, form, features, blocks):
    found, sizes = FeatureLayout([1, 3, 1, 2], trend, 0).of_form(form)
    assert (found.tolist(), sizes) == (features, blocks)


def test_a_row_at_an_origin_is_foreseen_from_the_one_before_it():
    borders = np.array([0.3, *ORIGINS[1:], 1.0])
    z = [np.full(8, float(k)) for k in range(7)]
    np.testing.assert_array_equal(Foreseen(z, [], borders).one_ahead(), [np.nan, *range(7)])


def test_a_row_on_a_border_is_no_tenth_further():
    borders = np.array([0.3, *ORIGINS[1:], 1.0])
    # Every row is foreseen as badly as it is far ahead: 1 + tenths / 10.
    z = [1.0 + np.arange(8.0) / 10.0 - k / 10.0 for k in range(7)]
    z = [np.where(np.arange(8) > k, each, np.nan) for k, each in enumerate(z)]
    expected = 1.0 + np.arange(8) / 10.0
    np.testing.assert_allclose(Foreseen(z, [], borders).spread_ahead(), expected)
