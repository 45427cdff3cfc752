"""What columns are taken for, and the codes by which they are looked at beside each other."""

import numpy as np
import pytest

from refold.base.errors import TableError, UserError
from refold.columns.conversion import texts_of
from refold.columns.date_form import DateForm
from refold.columns.encoding.dependence import NONE, OTHER
from refold.columns.encoding.plan import ColumnPlan, Plan
from refold.columns.missing import SourceFormat
from refold.columns.number_form import NumberForm
from refold.columns.table import DateColumn, NumberColumn, Table


def table_of(**columns):
    made = {
        name: texts_of(cells) if isinstance(cells, list) else NumberColumn(np.asarray(cells))
        for name, cells in columns.items()
    }
    return Table(list(made), list(made.values()), len(next(iter(made.values()))))


def test_frequent_values_are_told_apart_and_all_others_and_none():
    cells = ["b"] * 5 + ["c"] * 5 + ["a"] * 9 + ["d"] * 4 + [""]
    plan = ColumnPlan("x", "category").coded(texts_of(cells))
    assert plan.frequent == ("a", "b", "c")
    codes = plan.codes(texts_of(["c", "d", "", "a", "new"]))
    assert codes.tolist() == [2, OTHER, NONE, 0, OTHER]
    many = [f"v{k:02}" for k in range(60) for _ in range(5)]
    assert ColumnPlan("x", "category").coded(texts_of(many)).frequent == tuple(
        f"v{k:02}" for k in range(46)
    )


def test_numbers_are_told_apart_by_tenths_and_times_by_hour_or_weekday(rng):
    values = np.append(rng.exponential(size=200), np.nan)
    plan = ColumnPlan("x", "number").coded(NumberColumn(values))
    edges = np.quantile(values[:200], np.arange(1, 10) / 10)
    np.testing.assert_allclose(plan.edges, edges)
    new = np.array([-1.0, edges[0], 99.0, np.nan])
    assert plan.codes(NumberColumn(new)).tolist() == [0, 1, 9, NONE]
    empty = ColumnPlan("x", "number")
    assert empty.coded(NumberColumn(np.array([np.nan]))) is empty
    seconds = np.array([5.0 * 3600.0 + 86_400.0, np.nan])
    for clock, code in ((True, 5), (False, 4)):  # 2 January 1970 was a Friday
        dates = DateColumn(seconds, has_date=True, has_clock=clock)
        assert ColumnPlan("x", "date").codes(dates).tolist() == [code, NONE]


@pytest.mark.parametrize(
    ("role", "values", "shown"),
    [
        ("category", 1, 0),
        ("category", 2, 1),
        ("category", 3, 3),
        ("category", 12, 12),
        ("category", 13, 0),
        ("text", 3, 0),
    ],
)
def test_a_category_of_two_to_twelve_values_has_features_of_its_own(role, values, shown):
    cells = [f"v{k:02}" for k in range(values)] * 5
    plan = ColumnPlan("x", role).coded(texts_of(cells))
    assert plan.indicators == plan.frequent[:shown]


def test_features_are_numbers_then_indicators_of_categories(rng):
    table = table_of(
        kind=["a", "b", "c"] * 20, x=rng.normal(size=60), two=["u", "v"] * 30, y=rng.normal(size=60)
    )
    plan, parsed = Plan.of(table, {})
    assert plan.leading.tolist() == [1, 3, 0, 0, 0, 2]
    found = plan.indicators(plan.codes(parsed.columns), 60)
    expected = [
        [k == v for v in "abc"] + [t == "u"] for k, t in zip("abc" * 20, "uv" * 30, strict=True)
    ]
    np.testing.assert_array_equal(found, np.array(expected, dtype=float))
    assert plan.numbers.tolist() == [1, 3]
    assert not plan.plain
    other = plan.with_numbers(parsed, np.column_stack([np.ones(60), np.zeros(60)]))
    assert other["x"].values.tolist() == [1.0] * 60
    assert other["y"].values.tolist() == [0.0] * 60
    assert plan.as_texts == ["kind", "two"]


def test_plans_differ_by_columns_and_what_they_are():
    plan = Plan((ColumnPlan("a", "number"), ColumnPlan("b", "text"), ColumnPlan("c", "date")))
    other = Plan((ColumnPlan("a", "number"), ColumnPlan("b", "category"), ColumnPlan("d", "date")))
    assert plan.differing(other) == ["b", "c", "d"]
    assert plan.differing(plan) == []


def test_a_table_without_a_column_to_learn_is_refused_with_why():
    with pytest.raises(UserError, match=r"no column to learn.*numbers the rows.*has no value"):
        Plan.of(table_of(n=np.arange(50.0), x=np.full(50, np.nan)), {})
    plan, _ = Plan.of(table_of(n=np.arange(50.0), x=np.arange(50.0) % 7), {})
    assert plan.names == ["x"]
    assert [found.column for found in plan.noticed] == ["n"]
    again = plan.ignoring(plan.noticed)
    assert (again.columns, len(again.noticed)) == (plan.columns, 1)
    left = plan.ignoring([type(plan.noticed[0])("kind", "x", message="x is odd")])
    assert left.names == []
    assert [found.column for found in left.noticed] == ["n", "x"]


def test_truth_values_and_numbers_as_categories_are_known_however_they_are_written():
    cells = ["true", "false"] * 20
    plan, parsed = Plan.of(table_of(x=cells, y=np.arange(40.0) % 5), {"y": "category"})
    assert plan.used[0].truth
    assert set(parsed["x"].values) == {"True", "False"}
    assert plan.used[1].form == NumberForm()
    again = plan.parse(table_of(x=["1", "TRUE", "no"], y=["3.0", "4", "x"]))
    assert [again["x"].text(k) for k in range(3)] == ["True", "True", "no"]
    assert [again["y"].text(k) for k in range(3)] == ["3", "4", "x"]
    days = Table(["d"], [DateColumn(np.arange(30.0) % 4 * 86_400.0, True, False)], 30)
    assert Plan.of(days, {"d": "category"})[0].used[0].form == DateForm("iso", True, False)
    assert not Plan.of(table_of(x=["a", "b"] * 9), {})[0].used[0].truth


def read_by(form, cells, written=None, edges=()):
    """Numbers of a file as a plan that learned this form reads them."""
    plan = Plan((ColumnPlan("x", "number", form, edges=edges),))
    table = table_of(x=cells)
    if written is not None:
        table = Table(table.names, table.columns, table.rows, written=written)
    plan.check_forms(plan.parse(table))


@pytest.mark.parametrize(
    ("cells", "refused"),
    [
        (["1,5"] * 3, True),
        (["1,5"] * 2, False),  # too few to say
        (["1,5"] * 3 + ["2.5"] * 2, True),
        (["1,5"] * 3 + ["2.5"] * 3, False),  # half of them
        (["1,5"] * 3 + [""] * 9, True),
        (["1,5"] * 5 + ["red"] * 2, True),  # more than two thirds are numbers in another form
        (["1,5"] * 3 + ["red"] * 2, False),
        (["red"] * 9, False),
    ],
)
def test_a_file_most_of_whose_numbers_have_another_mark_is_refused(cells, refused):
    if not refused:
        read_by(NumberForm(), cells)
        return
    with pytest.raises(TableError, match="'1,5' is not written as the numbers that were") as caught:
        read_by(NumberForm(), ["", *cells])
    assert (caught.value.row, caught.value.column, caught.value.advice.value) == (1, 0, ",")


EDGES = tuple(np.linspace(10_000.0, 90_000.0, 9))


@pytest.mark.parametrize(
    ("cells", "refused"),
    [
        (["17.911", "20.113", "85.417"], True),
        (["17.911", "20.113"], False),
        (["17.911", "20.113", "85.417", "12"], True),
        (["81.911", "82.113", "85.417"], True),
        (["81.911", "93.113", "95.417"], False),  # more than was usual
        (["17.911", "20.113", "85.417", "30001"], True),
        (["17.911", "20.113", "85.4171"], False),  # not thousands
        (["17.910", "20.110", "85.410"], False),  # two decimals would do
        (["17.911", "20.113", "85.410", "30.120"], False),
        (["17.911", "20.113", "85.413", "30.120"], True),
        (["0.911", "20.113", "85.417"], False),
        (["1.911", "2.113", "8.417"], False),  # a thousand times as much is not usual
        (["17.911", "20.113", "85.417", "20000.5"], False),
    ],
)
def test_thousands_that_would_be_read_as_fractions_are_refused(cells, refused):
    if not refused:
        read_by(NumberForm(), cells, edges=EDGES)
        return
    with pytest.raises(TableError, match=rf"'{cells[0]}' is not written") as caught:
        read_by(NumberForm(), cells, edges=EDGES)
    assert caught.value.advice.value == ","
    read_by(NumberForm(), cells, edges=())
    read_by(NumberForm(), cells, SourceFormat(decimal="."), EDGES)


def test_a_date_that_goes_on_is_no_range_whatever_else_is_said_of_it():
    cells = [f"{month}/{day}/2020" for month in range(1, 13) for day in range(1, 13)]
    for order, ranged in ((cells, False), (cells[::5] + cells[::-7], True)):
        plan, _ = Plan.of(table_of(d=order), {})
        assert plan.used[0].ranged == ranged
        assert "ambiguous-date" in [found.kind for found in plan.noticed]


def test_each_column_is_parsed_whatever_is_beside_it():
    table = table_of(x=np.arange(40.0) % 7, y=["1,5", "2,25"] * 20)
    plan, _ = Plan.of(table, {})
    parsed = plan.parse(table)
    assert parsed["x"] is table["x"]
    assert parsed["y"].values[:2].tolist() == [1.5, 2.25]
    assert plan.parse(parsed) is parsed
