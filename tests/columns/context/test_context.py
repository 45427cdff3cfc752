"""The context of rows: what it is called, which rows have none, and what is said of it."""

import numpy as np
import pytest

from refold.base.errors import UserError
from refold.columns.context.context import (
    ContextColumns,
    ContextModel,
    _repeated,
    _smoothed,
    _with_atoms,
)
from refold.columns.context.gaps import ContextGaps
from refold.columns.context.time_findings import _alike, notice_groups, notice_time
from refold.columns.table import DateColumn, NumberColumn, Table
from tests.columns.tables import texts

DAY = 86_400.0
N = 240
END = np.datetime64("2026-03-06T23:00:00").astype("M8[s]").astype(float)  # a Friday
GIVEN = ContextColumns(by=("site", "machine"), over=("at",), context=("load", "kind"))


def rows(sites, machines, seconds, loads, kinds, y=None, clock=True):
    columns = [
        texts(sites),
        texts(machines),
        DateColumn(np.array(seconds, dtype=float), has_date=True, has_clock=clock),
        NumberColumn(np.array(loads, dtype=float)),
        texts(kinds),
        NumberColumn(np.zeros(len(sites)) if y is None else y),
    ]
    return Table(["site", "machine", "at", "load", "kind", "y"], columns, len(sites))


@pytest.fixture(scope="module")
def learned():
    rng = np.random.default_rng(0)
    machine = np.arange(N) % 6
    table = rows(
        [f"S{k // 3}" for k in machine],
        [f"M{k}" for k in machine],
        END - 3600.0 * np.arange(N)[::-1],
        rng.uniform(1.0, 2.0, N),
        [f"K{k % 2}" for k in range(N)],
        rng.normal(size=N) + machine,
    )
    return (*ContextModel.learn(GIVEN, table), table)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (ContextColumns(by=("sites",)), r"by= names 'sites', which the table does not have.*site"),
        (ContextColumns(context=("load", "load")), "'load' is named twice"),
        (ContextColumns(by=("site",), over=("site",)), "'site' is named twice"),
        (ContextColumns(by=("site",), context=("y",)), "name all columns"),
    ],
)
def test_a_context_that_a_table_cannot_have_is_refused(given, said):
    columns = ["site", "y"] if "all" in said else ["site", "load", "y"]
    with pytest.raises(UserError, match=said):
        given.check(columns)
    GIVEN.check(["site", "machine", "at", "load", "kind", "y"])
    ContextColumns().check([])
    ContextColumns(by=("site",)).check(["site", "y"])


def test_groups_without_a_value_are_refused():
    table = Table(["g", "y"], [texts([None] * 9), NumberColumn(np.arange(9.0))], 9)
    with pytest.raises(UserError, match="by='g' has no value in any row"):
        ContextModel.learn(ContextColumns(by=("g",)), table)


NEVER = "machine M9 (never seen: as for "


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            ("S0", "M1", END, 1.5, "K1"),
            "for site S0 machine M1 at Friday 23:00 with load 1.5, kind K1",
        ),
        (
            ("S0", "M1", END - 3599.0, np.nan, "K1"),
            "for site S0 machine M1 at Friday 22:00 with kind K1",
        ),
        (("S0", "M1", END, np.nan, None), "for site S0 machine M1 at Friday 23:00"),
        (
            ("S0", "M9", END, 1.0, "K9"),
            f"for site S0 {NEVER}site S0) at Friday 23:00 with load 1, kind K9",
        ),
        (("S9", "M9", END, np.nan, None), f"for site S9 {NEVER}all) at Friday 23:00"),
        (
            ("S1", "M1", END, np.nan, None),
            "for site S1 machine M1 (never seen: as for site S1) at Friday 23:00",
        ),
        (
            ("S1", None, END, np.nan, None),
            "for site S1 (incomplete: as for site S1) at Friday 23:00",
        ),
        ((None, None, END, np.nan, None), "without machine (as for all) at Friday 23:00"),
        (
            ("S0", "M1", np.nan, np.nan, None),
            "for site S0 machine M1 without at (as at the end of training)",
        ),
    ],
)
def test_the_context_of_a_row_in_words(learned, row, said):
    model, *_ = learned
    table = rows(*([cell] for cell in row))
    assert model.described(table, 0) == said


def test_beyond_what_was_tried_it_is_said_so(learned):
    model, *_ = learned
    tried = 0.7 * 3600.0 * (N - 1)
    for ahead, beyond in ((tried - 1.0, False), (tried + 1.0, True)):
        said = model.described(rows(["S0"], ["M1"], [END + ahead], [np.nan], [None]), 0)
        assert ("(learned until 2026-03-06, tried 7 days ahead)" in said) == beyond
    day = rows(["S0"], ["M1"], [END], [np.nan], [None], clock=False)
    assert model.described(day, 0) == "for site S0 machine M1 on Friday"
    assert ContextModel.learn(ContextColumns(), day)[0].described(day, 0) == ""
    assert ContextModel.learn(ContextColumns(), day)[0].learned_until == ""


def test_rows_are_foreseen_from_the_first_origin_on(learned):
    model, judged, kept, table = learned
    share = (np.arange(N)) / (N - 1)
    assert kept.tolist() == np.flatnonzero(share > 0.3).tolist()
    assert judged.names == ["y"]
    assert judged.rows == len(kept)
    assert model.layout.trend == len(model.design.blocks) - 2
    applied = model.apply(table)
    assert applied.names == ["y"]
    assert applied.inputs is table
    np.testing.assert_array_equal(
        applied["y"].values, model.columns["y"].z(model._rows(table), table["y"].values)
    )


def test_rows_without_a_context_are_counted_and_said(learned):
    model, *_ = learned
    table = rows(
        ["S0", None, "S0", "S0", "S9", "S0"],
        ["M1", "M1", None, "M9", "M9", "M0"],
        [END, np.nan, END + 1e9, END, np.nan, END],
        [1.0, np.nan, 1.0, 1.0, 1.0, 1.0],
        ["K1", "K1", None, "K1", "K9", "K0"],
    )
    found = ContextGaps.of(model, table)
    assert found == ContextGaps(no_group=2, new_group=2, no_time=2, beyond=1, no_context=2)
    assert found.plus(found) == ContextGaps(4, 4, 4, 2, 4)
    above = "judged by the group above it, or by all rows."
    assert ContextGaps(2, 1, 3, 1, 0).sentences(model) == [
        f"2 rows without machine: {above}",
        f"1 row with a machine that training did not have: {above}",
        "3 rows whose at is missing or cannot be read: judged as at the end of training.",
        "1 row later than was tried: learned until 2026-03-06, tried 7 days ahead.",
    ]
    (said,) = ContextGaps(no_context=1_000).sentences(model)
    assert said.startswith("1,000 rows whose load or kind is missing or cannot be read")
    one = ContextModel.learn(ContextColumns(by=("site",)), table.select(["site", "y"]))[0]
    assert ContextGaps(1).sentences(one) == ["1 row without site: judged by all rows."]
    assert ContextGaps.of(ContextModel.learn(ContextColumns(), table)[0], table) == ContextGaps()


def grouped(sizes, missing=0):
    cells = [f"G{k}" for k, size in enumerate(sizes) for _ in range(size)] + [None] * missing
    table = Table(
        ["g", "y"], [texts(cells), NumberColumn(np.arange(float(len(cells))))], len(cells)
    )
    return ContextModel.learn(ContextColumns(by=("g",)), table)[0], table


def test_groups_of_few_rows_and_rows_without_a_group_are_said():
    assert list(notice_groups(*grouped([8, 9]))) == []
    (small,) = notice_groups(*grouped([9, 7, 5, 8]))
    assert "2 of 4 groups have fewer than 8 rows, such as G2 with 5" in str(small)
    (missing,) = notice_groups(*grouped([9, 9], missing=2))
    assert "2 of 20 rows have no group" in str(missing)
    assert len(list(notice_groups(*grouped([1] * 89 + [11])))) == 1
    with pytest.raises(UserError, match="by='g' has 91 values in 100 rows"):
        list(notice_groups(*grouped([1] * 90 + [10])))


def test_the_span_of_time_is_said_and_times_that_repeat():
    def noticed(times):
        words = texts([f"w{k % 7}" for k in range(len(times))])  # no number has to be foreseen
        table = Table(["t", "y"], [times, words], len(times))
        model, learned, _ = ContextModel.learn(ContextColumns(over=("t",)), table)
        return list(notice_time(model, learned, np.zeros(learned.rows, bool)))

    def dates(seconds):
        return DateColumn(np.array(seconds, dtype=float), has_date=True, has_clock=False)

    for days, short in ((549.0, True), (550.0, False)):
        (span,) = noticed(dates(np.linspace(0.0, days, 60) * DAY))
        assert span.kind == "time-span"
        assert ("less than 550 days" in str(span)) == short
    (span,) = noticed(NumberColumn(np.arange(40.0)))
    assert "days" not in str(span)
    found = noticed(dates(np.repeat(np.arange(40.0), 4) * DAY))
    assert [each.kind for each in found] == ["time-span", "repeated-times"]
    assert "112 rows are of 28 different times" in str(found[1])  # those that were foreseen
    assert len(noticed(dates(np.repeat(np.arange(40.0), 2) * DAY))) == 1
    for times, many in ((100, True), (101, False)):
        kept = np.repeat(np.linspace(0.301, 1.0, times), 3)
        seconds = np.append([0.0, *np.linspace(0.01, 0.29, 20)], kept) * 400.0 * DAY
        assert (len(noticed(dates(seconds))) == 2) == many


def test_how_alike_rows_are_is_the_correlation_of_ranks(rng):
    values = np.cumsum(rng.normal(size=200))
    values[rng.random(200) < 0.1] = np.nan
    before, after = np.arange(199), np.arange(1, 200)
    table = Table(["y"], [NumberColumn(values)], 200)
    some = ~np.isnan(values[before]) & ~np.isnan(values[after])
    ranks = np.array([np.mean(values[~np.isnan(values)] <= v) for v in values])
    expected = np.corrcoef(ranks[before[some]], ranks[after[some]])[0, 1]
    assert _alike(table, "y", before, after) == pytest.approx(expected)
    for n, known in ((5, True), (4, False)):
        pairs = np.flatnonzero(some)[:n]
        assert (_alike(table, "y", before[pairs], after[pairs]) != 0.0) == known
    still = Table(["y"], [NumberColumn(np.append(np.zeros(9), 1.0))], 10)
    assert _alike(still, "y", np.arange(9), np.arange(1, 10)) == 0.0


def test_where_several_rows_have_a_score_it_is_that_of_new_rows():
    found = np.array([1.0] * 5 + [2.0] * 4 + [3.0, 3.0 + 1e-11] + [3.0] * 3)
    alone = found + 0.5
    changed = _with_atoms(alone, found)
    np.testing.assert_array_equal(changed[:5], found[:5])
    np.testing.assert_array_equal(changed[5:9], alone[5:9])
    np.testing.assert_array_equal(changed[9:], found[9:])
    assert _repeated(np.append(np.arange(89.0), np.zeros(11)))
    assert not _repeated(np.append(np.arange(90.0), np.zeros(10)))
    assert not _repeated(np.append(np.arange(50.0), np.full(50, np.nan)))
    assert _repeated(np.repeat(np.arange(9_000.0) % 1_000, 1))
    assert not _repeated(np.arange(9_000.0))
    # Some 2,000 rows are looked at, every so many.
    fourth = np.arange(8_000.0)
    assert not _repeated(np.where(fourth % 4 == 0, fourth, 1.0))
    assert _repeated(np.where(fourth % 4 == 1, fourth, 1.0))


@pytest.mark.parametrize(
    ("different", "times", "spread"), [(100, 3, True), (101, 3, False), (100, 2, False)]
)
def test_few_scores_over_time_are_spread_as_by_a_kernel(different, times, spread):
    scores = np.append(np.repeat(np.linspace(-1.0, 1.0, different), times), [np.nan] * 5)
    found = _smoothed(scores)
    assert np.isnan(found).tolist() == np.isnan(scores).tolist()
    off = (found - scores)[:-5]
    if spread:
        width = 0.9 * scores[:-5].std() * different**-0.2
        assert off.std() == pytest.approx(width, rel=0.1)
        assert abs(off.mean()) < width / 4.0
    else:
        assert (off == 0.0).all()


def test_the_usual_text_of_a_group_is_the_one_that_most_of_its_rows_have():
    groups, words = ["A"] * 5 + ["B"] * 5, ["x", "x", "x", "y", "y", "y", "y", "x", "x", "y"]
    table = Table(["g", "w"], [texts(groups), texts(words)], 10)
    model, *_ = ContextModel.learn(ContextColumns(by=("g",)), table)
    new = Table(["g", "w"], [texts(["B", "A", "C", None]), texts(["z"] * 4)], 4)
    assert model.usual_texts(new, "w") == ["y", "x", None, None]


def test_a_new_group_is_judged_as_the_nearest_parent_that_is_known():
    rng = np.random.default_rng(0)
    levels = {
        name: [f"{name}{(k // size) % 3}" for k in range(108)]
        for name, size in (("a", 36), ("b", 6), ("c", 1))
    }
    levels["b"] = [a + b for a, b in zip(levels["a"], levels["b"], strict=True)]
    levels["c"] = [b + c for b, c in zip(levels["b"], levels["c"], strict=True)]
    kinds = [f"K{k % 2}" for k in range(108)]
    columns = [*map(texts, levels.values()), texts(kinds), NumberColumn(rng.normal(size=108))]
    table = Table([*"abc", "kind", "y"], columns, 108)

    def said(model, *cells):
        columns = [*(texts([cell]) for cell in cells), NumberColumn(np.zeros(1))]
        return model.described(Table(table.names, columns, 1), 0)

    model, *_ = ContextModel.learn(ContextColumns(by=("a", "b", "c"), context=("kind",)), table)
    assert "(never seen: as for b a1b1)" in said(model, "a1", "a1b1", "new", "K0")
    assert "(never seen: as for a a1)" in said(model, "a1", "new", "new", "K0")
    assert "(never seen: as for all)" in said(model, "new", "new", "new", "K0")
    model, *_ = ContextModel.learn(ContextColumns(by=("a",), context=("kind",)), table)
    assert said(model, "K1", "b", "c", "K0") == "for a K1 (never seen: as for all) with kind K0"


def test_learned_rows_are_looked_at_as_left_out_and_new_ones_as_they_are():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(8), [8, 8, 8, 60, 60, 60, 60, 60])
    words = np.where(rng.random(len(groups)) < 0.1, "x", np.char.add("w", (groups % 3).astype(str)))
    y = rng.normal(size=len(groups)) + groups
    names = [f"G{k}" for k in groups]
    table = Table(["g", "w", "y"], [texts(names), texts(words), NumberColumn(y)], len(groups))
    model, learned, _ = ContextModel.learn(ContextColumns(by=("g",)), table)
    again, smaller = model.left_out(table), model.left_out(table, smaller_groups=True)
    np.testing.assert_allclose(again["y"].values, learned["y"].values)
    assert (smaller["y"].values != again["y"].values).any()
    path = model.tree.codes(table)
    for found, left_out in ((learned, True), (again, True), (model.apply(table), False)):
        expected = model.texts["w"].apply(table["w"], path, left_out=left_out).in_group
        np.testing.assert_array_equal(found["w"].in_group, expected)
        assert found.names == ["w", "y"]
    without = model.apply(table.select(["g", "y"]))
    np.testing.assert_array_equal(without["y"].values, model.apply(table)["y"].values)
    column = model.columns["y"]
    np.testing.assert_array_equal(model.apply(table)["y"].values, column.z(model._rows(table), y))


def test_a_date_in_the_context_makes_no_date_of_the_time_that_rows_are_of():
    time, since = np.arange(60.0), 1.7e9 + 86_400.0 * np.arange(60)
    cells = [NumberColumn(time), DateColumn(since, True, False), NumberColumn(np.sin(time))]
    for over, other, said in (("t", "since", "until 59,"), ("since", "t", "until 2024-01-12,")):
        table = Table(["t", "since", "y"], cells, 60)
        model, *_ = ContextModel.learn(ContextColumns(over=(over,), context=(other,)), table)
        assert said in model.learned_until
