"""In which form texts are numbers or dates, at the shares and marks that decide it."""

import numpy as np
import pytest

from refold.columns.date_form import DateForm
from refold.columns.form_guess import TextSample, common_mark, read_as_dates, read_as_numbers
from refold.columns.number_form import NumberForm
from refold.columns.roles import as_role, guess
from refold.columns.table import NumberColumn, TextColumn
from tests.columns.tables import texts


@pytest.mark.parametrize(
    ("name", "values", "dated"),
    [
        ("x", 20200101.0 + np.arange(28), True),
        ("x", np.append(20200101.0 + np.tile(np.arange(28), 8)[:198], [7.0, 8.0]), True),
        ("x", np.append(20200101.0 + np.tile(np.arange(28), 8)[:197], [7.0, 8.0, 9.0]), False),
        ("x", 19000101.0 + np.arange(28), True),
        ("x", 18991201.0 + np.arange(28), False),
        ("x", 21001201.0 + np.arange(28), True),
        ("x", 21010101.0 + np.tile(np.arange(28), 2), False),
        ("time", 1.6e9 + 977.0 * np.arange(40) ** 2, True),
        ("time", 1.6e12 + 977e3 * np.arange(40) ** 2, True),
        ("x", 1.6e9 + 977.0 * np.arange(40) ** 2, False),
        ("time", 6e8 + 977.0 * np.arange(40) ** 2, False),  # before 1990
        ("time", 2.2e9 + 977.0 * np.arange(40) ** 2, True),
        ("time", 2.3e9 + 977.0 * np.arange(40) ** 2, False),  # after 2040
    ],
)
def test_numbers_are_dates_if_nearly_all_read_as_some_of_our_time(name, values, dated):
    values = np.random.default_rng(0).permutation(values)
    written = texts([f"{value:.0f}" for value in values])
    for column in (NumberColumn(values), written):
        assert (guess(name, column).role == "date") == dated


@pytest.mark.parametrize(
    ("cells", "likely", "decimal"),
    [
        (["1.5", "2.25"], "", "."),
        (["1,5", "2,25"], "", ","),
        (["1", "2"], "", ""),
        (["1.234,5", "2"], "", ","),
        (["1.234.567", "2.000.000"], "", ","),  # points stand between thousands
        (["1.234", "2.345"], "", ""),  # open
        (["1h 30min", "2h"], "", ""),
    ],
)
def test_columns_show_which_decimal_mark_they_have(cells, likely, decimal):
    found = guess("x", texts(cells * 20), likely)
    assert found.decimal == decimal
    assert as_role("x", texts(cells * 20), "number", likely).decimal == decimal


def test_what_cells_leave_open_is_what_other_columns_show():
    cells = texts(["1.234", "2.345", "12.500"] * 20)
    assert guess("x", cells, ".").form == NumberForm()
    assert guess("x", cells, ",").form == NumberForm(",", ".")
    assert as_role("x", cells, "number", ",").form == NumberForm(",", ".")
    assert as_role("x", cells, "number:.", ",").form == NumberForm()
    open_ = guess("x", texts(["1,234", "2,345", "12,511"] * 20))
    assert open_.is_open
    assert not guess("x", cells, ",").is_open
    plain = NumberColumn(np.array([1.0, 2.0] * 20), form=NumberForm())
    assert (guess("x", plain, ",").form, guess("x", plain).form) == (NumberForm(","), NumberForm())
    assert as_role("x", plain, "number", ",").form == NumberForm(",")
    parts = NumberColumn(np.array([1.5, 2.0] * 20), form=NumberForm())
    assert (guess("x", parts, ",").form, guess("x", parts, ",").decimal) == (NumberForm(), ".")
    assert as_role("x", parts, "number", ",").form == NumberForm()
    assert as_role("x", parts, "number").noticed == ()


def test_a_sample_of_texts_speaks_for_all_rows(rng):
    usual = [f"u{k}" for k in range(600) for _ in range(3)]
    alone = [f" a{k} " for k in range(5_000)]
    column = texts(rng.permutation([*usual, *alone, *[""] * 50]).tolist())
    sample = TextSample.of(column)
    assert len(sample.texts) == 2_500
    assert len(set(sample.texts)) == 2_500
    assert sample.weights.sum() == pytest.approx(6_800.0)
    often = [
        weight for text, weight in zip(sample.texts, sample.weights, strict=True) if text[0] == "u"
    ]
    assert often[:500] == [3.0] * 500
    assert all(text == text.strip() for text in sample.texts)
    few = TextSample.of(texts(["b", "a", "b", ""]))
    assert (few.texts, few.weights.tolist()) == (["b", "a"], [2.0, 1.0])


@pytest.mark.parametrize(
    ("numbers", "different", "number"), [(10, 5, True), (10, 4, False), (9, 5, False)]
)
def test_words_in_place_of_numbers_count_neither_for_nor_against_them(numbers, different, number):
    cells = [f"{k % different}.25" for k in range(numbers)]
    for word in ("n.d.", "<0.05", "≥ 9", "missing"):
        found = guess("x", texts(cells + [word] * (100 - numbers)))
        assert (found.role == "number") == number
    assert guess("x", texts([*cells, "<a"] * 9)).role != "number"


@pytest.mark.parametrize(
    ("unit", "with_it", "suffix"),
    [("kg", 50, "kg"), ("kg", 49, None), ("k", 99, "k"), ("k", 98, None)],
)
def test_a_unit_stands_beside_half_of_the_numbers_and_a_thousand_beside_nearly_all(
    unit, with_it, suffix
):
    cells = [f"{k}.5{unit}" for k in range(with_it)] + [f"{k}.75" for k in range(100 - with_it)]
    found = guess("x", texts(cells))
    assert found.form == (suffix and NumberForm(suffix=suffix))


@pytest.mark.parametrize(
    ("cells", "likely", "form", "rival"),
    [
        # Every number has three digits behind the mark: thousands or a fraction?
        (["1,234", "2,345"], "", NumberForm(thousands=","), NumberForm(",")),
        (["1.234", "2.345"], "", NumberForm(), NumberForm(",", ".")),
        (["1,234", "2,345", "12"], "", NumberForm(thousands=","), NumberForm(",")),
        (["1,230", "2,345", "12"], "", NumberForm(thousands=","), None),
        (["1.230", "2.345", "12"], "", NumberForm(",", "."), NumberForm()),
        (["1,234", "2,345", "1234"], "", NumberForm(","), NumberForm(thousands=",")),
        (["1.234", "2.345", "1234"], "", NumberForm(), None),
        (["1,234", "2,345"], ".", NumberForm(thousands=","), None),
        (["1,234", "2,345"], ",", NumberForm(","), None),
        (["1,234", "2,345", "1234"], ".", NumberForm(thousands=","), NumberForm(",")),
        (["1,234", "2,345", "1234"], ",", NumberForm(","), None),
        (["1,234", "2,345", "123"], ".", NumberForm(thousands=","), None),
    ],
)
def test_three_digits_behind_each_mark_are_thousands_or_a_fraction(cells, likely, form, rival):
    reading = read_as_numbers(TextSample.of(texts(cells)), likely=likely)
    assert (reading.form, reading.share, reading.rival) == (form, 1.0, rival)


@pytest.mark.parametrize(("words", "dates"), [(11, True), (12, False)])
def test_the_most_frequent_texts_show_which_forms_of_dates_are_tried(words, dates):
    cells = [f"w{'abcdefghijkl'[k]}" for k in range(words)] * 2
    cells += [f"2020-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(90)]
    found = read_as_dates(TextSample.of(texts(cells)))
    assert (found is not None) == dates


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        (["2020-01-02", "2021-03-04"], DateForm("iso", True, False)),
        (["2020-01-02", "2021-03-04 05:06"], DateForm("iso", True, True)),
        (["1/2/2020 5:06 PM"], DateForm("%m/%d/%Y %I:%M:%S %p", True, True)),
        (["13/2/2020"], DateForm("%d/%m/%Y", True, False)),
        (["1:23"], DateForm("%H:%M:%S", False, True)),
        (["1:2"], None),
        (["Q1 2020", "Q4 2021"], DateForm("Q%q %Y", True, False)),
        (["02/Jan/2020:10:11:12"], DateForm("%d/%b/%Y:%H:%M:%S", True, True)),
        (["20200102101112"], DateForm("%Y%m%d%H%M%S", True, True)),
        (["Mar 2020"], DateForm("%b %Y", True, False)),
        (["red"], None),
    ],
)
def test_texts_are_dates_in_the_form_that_they_show(cells, form):
    found = read_as_dates(TextSample.of(texts(cells)))
    assert (None if found is None else found.form) == form


def test_the_mark_that_more_columns_show_is_the_likely_one():
    assert common_mark([",", ".", ",", "", ""]) == ","
    assert common_mark([",", "."]) == common_mark([]) == common_mark(["", ""]) == ""
    assert common_mark(["."]) == "."


def test_points_and_commas_are_no_form_together():
    reading = read_as_numbers(TextSample.of(texts(["1,5", "2.25", "3.75"])))
    assert (reading.form, reading.share) == (NumberForm(), pytest.approx(2 / 3))
    assert read_as_numbers(TextSample.of(texts(["1,5", "2,25"])), "").form == NumberForm(",")
    assert read_as_numbers(TextSample.of(texts(["1,5", "2,25"])), ".").share == 0.0


def test_values_that_no_row_has_say_nothing():
    sample = TextSample.of(TextColumn(["a", "1.5", "b"], np.array([1, 1, -1])))
    assert (sample.texts, sample.weights.tolist()) == (["1.5"], [2.0])
    reading = read_as_numbers(sample)
    assert (reading.form, reading.share, reading.rival) == (NumberForm(), 1.0, None)
