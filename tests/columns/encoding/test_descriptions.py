"""What is said of cells, against sentences written by hand and counts made by hand."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from refold.columns.context.context import ContextColumns, ContextModel
from refold.columns.conversion import texts_of
from refold.columns.date_form import DateForm
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.dates import DateCounts
from refold.columns.encoding.dependence import NONE, OTHER
from refold.columns.encoding.descriptions import (
    CellDescriber,
    _between,
    _clock,
    _day,
    beside_words,
    cannot_be_read,
    date_words,
    form_words,
    never_or,
    oclock,
    text_words,
    usual_text,
    values_in,
)
from refold.columns.encoding.plan import Plan
from refold.columns.encoding.shapes import example_of, shape_of
from refold.columns.encoding.texts import TextCounts
from refold.columns.encoding.value_counts import MOST_VALUES, ValueCounts
from refold.columns.parsing import parse
from refold.columns.table import DateColumn, Table

HOUR, DAY = 3600.0, 86_400.0
COLUMN = texts_of(
    ["AB-12"] * 5
    + [f"CD-{k}" for k in range(10, 50)]
    + ["x é"] * 2
    + ["q!"]
    + [f"r?{k}" for k in "ab"]
)


def texts(*cells):
    return TextCounts.of(texts_of(list(cells)))


@pytest.mark.parametrize(
    ("view", "text", "said"),
    [
        ("value", "AB-12", "is rare (5 of 50 rows)"),
        ("value", "new", "was never seen (45 values in 50 rows)"),
        ("shape", "CD-7", "has another form than 'AB-12'"),
        ("shape", "q!", "is rare (1 of 50 rows)"),  # the only row that looks so
        ("shape", "x é", "is rare (2 of 50 rows)"),
        ("shape", "r?a", "is rare (1 of 50 rows)"),  # half of those that look so
        ("shape", "z?b", "has a rare form (2 of 50 rows), unlike 'AB-12'"),
        ("collapsed shape", "ABC", "has another form than 'AB-12'"),
        ("collapsed shape", "ZZZ-77", "has a rare form (45 of 50 rows)"),
        ("character", "AB ж", "has 'ж', which no other row has"),
        ("character", "CD-1\u0007", "has the character U+0007, which no other row has"),
        ("character", "x", "has 'x' (2 of 50 rows)"),
        ("character", "x é", "is rare (2 of 50 rows)"),
        ("character", "A D", "has a space (2 of 50 rows)"),
        ("character", "", "has no character, which no other row has"),
    ],
)
def test_what_is_odd_about_a_text_is_counted(view, text, said):
    assert text_words(TextCounts.of(COLUMN), view, text) == said


def test_how_usual_a_text_is():
    counts = texts(*["a"] * 5, *["b"] * 4, *[f"v{k}" for k in range(91)])
    assert usual_text(counts, "a") == "is usual by itself (5 of 100 rows)"
    assert usual_text(counts, "b") == "is no rarer than many (4 of 100 rows)"
    assert usual_text(counts, "z") == "is new, as many are (93 values in 100 rows)"
    assert values_in(texts("a", "a").values) == "1 value in 2 rows"
    assert text_words(texts("", "", ""), "value", "a") == (
        "is the first value: this column was empty in all 3 training rows"
    )
    n = MOST_VALUES + 1
    many = ValueCounts.of([f"v{k}" for k in range(n)], np.full(n, 2))
    assert values_in(many) == f"about {many.distinct:,} values in {2 * n:,} rows"
    empty = ValueCounts()
    assert text_words(TextCounts(many, empty, empty), "value", "new") == (
        f"is rare (at most {many.error:,} of {2 * n:,} rows)"
    )
    assert form_words(many, "v9", "example") == "has another form than 'example'"
    shapes = ValueCounts.of(["A", "9"], np.array([3, 1]))
    assert form_words(shapes, "A", "b") == "has a rare form (3 of 4 rows)"
    assert form_words(shapes, "9", "b") == "has a rare form (1 of 4 rows), unlike 'b'"


def dated(*seconds, clock=True, date=True):
    return DateColumn(np.array(seconds, dtype=float), date, clock)


@pytest.mark.parametrize(
    ("hour", "said"),
    [
        (9.5, "at 09:30 (20 of 41 rows between 9 and 10 o'clock)"),
        (10.0, "at 10:00 (1 of 41 rows between 10 and 11 o'clock)"),
        (11.0, "at 11:00; no row between 11 and 23 o'clock"),
        (22.99, "at 22:59; no row between 11 and 23 o'clock"),
        (5.0, "at 05:00; no row between 0 and 9 o'clock"),
        (0.0, "at 00:00; no row between 0 and 9 o'clock"),
        (23.0, "at 23:00 (20 of 41 rows between 23 and 24 o'clock)"),
    ],
)
def test_hours_without_a_row_are_said_together(hour, said):
    hours = [9.2 * HOUR] * 20 + [10.1 * HOUR] + [23.1 * HOUR] * 20
    for date in (True, False):
        counts = DateCounts.of(dated(*hours, date=date))
        words = date_words(counts, "hour", dated(hour * HOUR, date=date), 0)
        alone = "is rare (" if "(" in said else "is alone; "
        expected = f"is {said}" if date else alone + said.partition(alone[-2:])[2].lstrip()
        assert words == expected


def test_around_midnight_and_all_day_without_a_row():
    counts = DateCounts.of(dated(*[12.0 * HOUR] * 3, date=False))
    words = date_words(counts, "hour", dated(2.0 * HOUR, date=False), 0)
    assert words == "is alone; no row between 13 and 12 o'clock"
    none = DateCounts.of(dated(date=False))
    words = date_words(none, "hour", dated(2.0 * HOUR, date=False), 0)
    assert words == "is alone; no row between 2 and 2 o'clock"
    assert [oclock(0), oclock(23), oclock(22, 4)] == [
        "between 0 and 1 o'clock",
        "between 23 and 24 o'clock",
        "between 22 and 2 o'clock",
    ]


def test_days_and_ends_of_dates():
    monday = 4.0 * DAY  # 5 January 1970
    counts = DateCounts.of(dated(*[monday] * 4, monday + DAY, monday + 9.0 * DAY, clock=False))
    new = dated(monday + DAY, monday + 6.0 * DAY, monday - DAY, monday + 99.0 * DAY, clock=False)
    assert date_words(counts, "weekday", new, 0) == "is a Tuesday (1 of 6 rows)"
    assert date_words(counts, "weekday", new, 1) == "is a Sunday (none of 6 rows)"
    assert date_words(counts, "range", new, 2) == "is before all (1970-01-05 to 1970-01-14)"
    assert date_words(counts, "range", new, 3) == "is after all (1970-01-05 to 1970-01-14)"


def test_texts_that_are_no_dates():
    form = DateForm("%d.%m.%Y", has_date=True, has_clock=False)
    column = parse(texts_of(["01.02.2020"] * 4 + ["1.2.2020", "soon", ""]), "date", form)
    counts = DateCounts.of(column)
    new = parse(texts_of(["3.4.2021", "99.99.2020", "2020/01/01", "soon"]), "date", form)
    usual = example_of("99.99.9999")
    assert date_words(counts, "form", new, 0) == (
        f"has a rare form (1 of 6 rows), unlike '{usual}'"
    )
    assert cannot_be_read(counts, new, 1) == (
        "cannot be read as a date: it has a rare form (4 of 6 rows)"
    )
    assert cannot_be_read(counts, new, 2) == (
        f"cannot be read as a date: it has another form than '{usual}'"
    )
    assert cannot_be_read(counts, new, 3) == "is not a date; so it was in 1 of 7 rows"
    clock = DateForm("%H:%M:%S", has_date=False, has_clock=True)
    known = DateCounts.of(parse(texts_of(["10:00", "11:00"]), "date", clock))
    assert cannot_be_read(known, parse(texts_of(["x"]), "date", clock), 0) == (
        "is not a time; it always was one in training"
    )
    typed = DateCounts.of(dated(DAY, 2.0 * DAY))
    assert cannot_be_read(typed, new, 1) == "is not a date; it always was one in training"
    assert never_or(3, 2000) == "so it was in 3 of 2,000 rows"


@pytest.mark.parametrize(
    ("edges", "code", "levels", "said"),
    [
        ((), 0, None, "any number"),
        ((1.0, 2.0), 0, None, "below 1"),
        ((1.0, 2.0), 1, None, "from 1 to below 2"),
        ((1.0, 2.0), 2, None, "2 or more"),
        ((1000.0, 1000.01), 1, None, "from 1000 to below 1000.01"),
        ((1.0, 2.0), 1, [0.0, 1.0, 2.0], "1"),
        ((1.0, 2.0), 1, [0.0, 1.0, 1.5, 2.0], "from 1 to below 2"),
        ((1.0, 2.0), 0, [1.0, 2.0], "below 1"),
        ((1.0, 2.0), 2, [0.0, 1.0, 2.0], "2"),
    ],
)
def test_numbers_are_told_by_their_only_level_or_by_two_ends(edges, code, levels, said):
    assert _between(edges, code, None if levels is None else np.array(levels)) == said


@pytest.mark.parametrize(
    ("text", "shape", "collapsed"),
    [
        ("AB-1234", "AA-9999", "A+-9+"),
        ("aB  1", "aA  9", "aA +9"),
        ("Ωé٣\u00a0", "Aa9 ", "Aa9 "),
        ("--", "--", "--"),
        ("x" * 200, "a" * 128, "a+"),
    ],
)
def test_the_shape_of_a_text(text, shape, collapsed):
    assert shape_of(text) == shape
    assert shape_of(text, collapsed=True) == collapsed
    for each in (shape, collapsed):
        assert example_of(each, ["!?", text]) == text
    made = example_of(collapsed)
    assert shape_of(made, collapsed=True) == collapsed or "x" in text or not text.isascii()


N = 400


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    at = np.array(
        [f"2026-01-{5 + k % 5 + 7 * (k // 5 % 3):02} {9 + k % 8:02}:00" for k in range(N)]
    )
    words = np.where(np.arange(N) % 9 < 6, "red", "green")
    words[[7, 50, 90]] = "pale"
    numbers = rng.normal(size=N).round(3).astype(str)
    numbers[3], numbers[5], words[11] = "", "x", ""
    columns = [texts_of(cells.tolist()) for cells in (words, at, numbers)]
    roles = {"word": "category", "at": "date", "x": "number"}
    table = Table(["word", "at", "x"], columns, N)
    return TableCounts.of(*Plan.of(table, roles))


def described(counts, word, at, number):
    table = Table(["word", "at", "x"], [texts_of([cell]) for cell in (word, at, number)], 1)
    rows = counts.encode(table)
    describer = CellDescriber(counts, table, rows.magnitudes, rows.novel)
    found = [describer.describe(0, k) for k in range(3)]
    for k, each in enumerate(found):
        if each.view not in ("missing", "unreadable", "beside"):
            assert each.surprise <= rows.magnitudes[0, k] + 1e-9
    return [(each.view, each.words) for each in found], [describer.value(0, k) for k in range(3)]


USUAL_DAY = "2026-01-06 10:00"


@pytest.mark.parametrize(
    ("row", "column", "view", "words"),
    [
        (("red", USUAL_DAY, "0.1"), 1, "", "is usual by itself"),
        (("red", USUAL_DAY, "0.1"), 2, "", ""),
        (("pale", USUAL_DAY, "0.1"), 0, "character", "is rare (3 of 400 rows)"),
        (("blue", USUAL_DAY, "0.1"), 0, "unseen", "was never seen (3 values in 400 rows)"),
        (("", USUAL_DAY, "0.1"), 0, "missing", "so was 1 of 400 rows"),
        (("red", "", "0.1"), 1, "missing", "it never was in training"),
        (("red", "soon", "0.1"), 1, "unreadable", "is not a date; it always was one in training"),
        (("red", USUAL_DAY, ""), 2, "missing", "so was 1 of 400 rows"),
        (("red", USUAL_DAY, "y"), 2, "unreadable", "is not a number; so it was in 1 of 400 rows"),
        (("red", "2026-01-11 10:00", "0.1"), 1, "weekday", "is a Sunday (none of 400 rows)"),
        (
            ("red", "2026-01-06 03:00", "0.1"),
            1,
            "hour",
            "is at 03:00; no row between 17 and 9 o'clock",
        ),
        (("red", "2026-02-03 10:00", "0.1"), 1, "range", "is after all (2026-01-05 to 2026-01-23)"),
        (
            ("red", "2026-01-23 17:00", "0.1"),
            1,
            "hour",
            "is at 17:00; no row between 17 and 9 o'clock",
        ),
        (
            ("red", "2025-12-30 10:00", "0.1"),
            1,
            "range",
            "is before all (2026-01-05 to 2026-01-23)",
        ),
    ],
)
def test_what_is_odd_about_a_cell_is_said_in_the_view_in_which_it_surprises(
    row, column, view, words, counts
):
    found, values = described(counts, *row)
    assert found[column] == (view, words)
    assert values[0] == row[0] or (not row[0] and np.isnan(values[0]))
    if row[2] in ("0.1", "y"):
        assert values[2] == (0.1 if row[2] == "0.1" else "y")


KINDS = ["A"] * 200 + ["B"] * 200
COLOURS = (
    ["red"] * 186 + ["green"] + ["x1", "x2"] + [""] + ["blue"] * 10
    + ["green"] * 186 + ["blue"] * 11 + ["x3"] + [""] * 2
)  # fmt: skip


@pytest.mark.parametrize("kind", ["A", "B"])
@pytest.mark.parametrize("colour", ["red", "green", "blue", "x1", ""])
def test_how_rare_a_text_is_beside_its_partner_is_counted_in_the_rows(kind, colour):
    columns = [texts_of(KINDS), texts_of(COLOURS)]
    roles = {"kind": "category", "colour": "category"}
    counts = TableCounts.of(*Plan.of(Table(list(roles), columns, 400), roles))
    code = {"x1": OTHER, "": NONE}.get(colour)
    code = counts.plan.used[1].frequent.index(colour) if code is None else code
    alike = {"x1", "x2", "x3"} if colour == "x1" else {colour}
    have = sum(k == kind and c in alike for k, c in zip(KINDS, COLOURS, strict=True))
    rare = "is rare" if have <= 10 else "is less usual"  # of 200: one of twenty
    rows = f"{have or 'none'} of 200 rows"
    rows += {
        OTHER: " has one as rare" if have == 1 else " have one as rare",
        NONE: " is missing" if have == 1 else " are missing",
    }.get(code, "")
    often = "never occurs" if have == 0 else rare
    said = beside_words(counts, 1, code, "AB".index(kind))
    assert said == f"{often} where kind is {kind!r} ({rows})"


def test_how_rare_a_number_is_beside_its_partner_and_the_other_way_round():
    numbers = [str(k % 5 if k < 200 else 50 + k % 5) for k in range(400)]
    numbers[3], numbers[5] = "51", ""
    columns, roles = [texts_of(KINDS), texts_of(numbers)], {"kind": "category", "x": "number"}
    counts = TableCounts.of(*Plan.of(Table(list(roles), columns, 400), roles))
    assert beside_words(counts, 1, 1, 0).endswith("'A' (40 of 200 rows are from 1 to below 2)")
    assert beside_words(counts, 1, 6, 0).endswith("(1 of 200 rows is from 51 to below 51.6)")
    assert beside_words(counts, 1, 5, 0).startswith("never occurs where kind is 'A' (none of 200")
    assert (
        beside_words(counts, 0, 0, 6) == "is rare where x is from 51 to below 51.6 (1 of 41 rows)"
    )
    scored = beside_words(counts, 0, 0, 6, scored=("x",))
    assert "x is from 51 to below 51.6 standard deviations off (" in scored
    levels = {1: np.array([0.0, 1.0, 2.0, 3.0, 4.0, 50.0, 51.0, 52.0])}
    assert "where x is 51 (" in beside_words(counts, 0, 0, 6, levels=levels)
    assert beside_words(counts, 0, 0, NONE) == "is less usual where x is missing (1 of 1 rows)"


@pytest.mark.parametrize(
    ("code", "view", "words"),
    [
        ("AB-777", "", "is new, as many are (400 values in 400 rows)"),
        ("AB-1", "shape", "has another form than 'AB-100'"),
    ],
)
def test_where_all_texts_are_new_their_form_is_odd(code, view, words):
    table = Table(["code"], [texts_of([f"AB-{k}" for k in range(100, 500)])], 400)
    counts = TableCounts.of(*Plan.of(table, {"code": "text"}))
    one = Table(["code"], [texts_of([code])], 1)
    rows = counts.encode(one)
    found = CellDescriber(counts, one, rows.magnitudes, rows.novel).describe(0, 0)
    assert (found.view, found.words) == (view, words)


@pytest.mark.parametrize(("added", "said"), [(0.5, False), (1.0, True), (np.inf, True)])
def test_a_group_says_why_a_text_surprises_if_it_adds_enough(added, said):
    words = texts_of(["red"] * 6 + ["green"] * 6)
    names = texts_of(["M1"] * 6 + ["M2"] * 5 + ["M1"])
    counts = TableCounts.of(*Plan.of(Table(["word"], [words], 12), {"word": "category"}))
    inputs = Table(["machine", "word"], [names, words], 12)
    context = ContextModel.learn(ContextColumns(by=("machine",)), inputs)[0]
    one = inputs.take(np.array([11]))
    cells = replace(one["word"], in_group=np.array([[added, 0.0, 0.0]]))
    table = Table(["word"], [cells], 1, inputs=one)
    describer = CellDescriber(counts, table, np.full((1, 1), 3.0), np.zeros((1, 1), bool), context)
    expected = context.text_words(one, 0, "word", 0)
    assert expected == "is rare for machine M1 (1 of 7 rows)"
    assert describer._for_group(0, 0, 0) == (expected if said else "")


@pytest.mark.parametrize("seconds", [86399.0, 86399.9, -0.1, -60.0])
def test_a_fraction_of_a_second_belongs_to_the_minute_and_day_that_go_on(seconds):
    moment = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    assert (_day(seconds), _clock(seconds)) == (f"{moment:%Y-%m-%d}", f"{moment:%H:%M}")
