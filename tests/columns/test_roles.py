"""What a column is taken for, and what is said about it."""

import uuid
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from refold.columns.date_form import DateForm
from refold.columns.form_guess import TextSample, common_mark, read_as_dates, read_as_numbers
from refold.columns.missing import is_missing
from refold.columns.number_form import NumberForm
from refold.columns.roles import as_role, guess, is_numeric_time
from refold.columns.table import DateColumn, NumberColumn, TextColumn
from tests.columns.tables import texts
from tests.growth import assert_linear

ROWS = 300


def column(make):
    """A column of texts that are made of random numbers."""
    random = Random(0)
    return texts([make(random) for _ in range(ROWS)])


def kinds(found):
    return [finding.kind for finding in found.noticed]


@pytest.mark.parametrize(
    ("make", "form"),
    [
        (lambda r: f"${r.randint(1, 10**7) / 100:,.2f}", NumberForm(".", ",", "$")),
        (lambda r: f"{r.randint(1, 99)},{r.randint(0, 9)} €", NumberForm(",", suffix="€")),
        (lambda r: f"Rs.{r.uniform(9, 9999):,.2f}", NumberForm(thousands=",", prefix="Rs.")),
        (lambda r: f"Fr. {r.randint(1, 9)}.{r.randint(10, 99)}", NumberForm(prefix="Fr.")),
        (lambda r: f"{r.randint(10**6, 10**7):,}".replace(",", "\u202f"), NumberForm(".", " ")),
        (lambda r: f"{r.randint(10**6, 10**7):,}".replace(",", "’"), NumberForm(".", "'")),
        (lambda r: f"{r.randint(1, 99)} kg", NumberForm(suffix="kg")),
        (lambda r: f"{r.random():.1%}", NumberForm(suffix="%")),
        (lambda r: f"{r.random() * 40:.3f}", NumberForm()),
        (lambda r: f"{r.random():.2E}", NumberForm()),
        (lambda r: r.choice(["0", "1"]), NumberForm()),
        (lambda r: f"{r.random():.2f}" if r.random() < 0.7 else "<0.05", NumberForm()),
        (lambda r: f"{r.random():.2f}" if r.random() < 0.7 else ".", NumberForm()),
        (lambda r: f"{r.randint(1, 9)}h {r.randint(0, 59)}min", NumberForm(kind="duration")),
        (lambda r: f"{r.randint(0, 40)}:{r.randint(10, 59)}:00", NumberForm(kind="duration")),
        (lambda r: f"{r.randint(1, 99)} min", NumberForm(kind="duration")),
    ],
)
def test_numbers_are_found_in_the_form_they_are_written_in(make, form):
    found = guess("x", column(make))
    assert (found.role, found.form, kinds(found)) == ("number", form, [])


@pytest.mark.parametrize(
    ("make", "form"),
    [
        (lambda r: f"{r.randint(1, 28)}.{r.randint(1, 12)}.2020", "%d.%m.%Y"),
        (lambda r: f"{r.randint(1, 28)}/{r.randint(1, 12)}/2020", "%d/%m/%Y"),
        (lambda r: f"{r.randint(1, 12)}/{r.randint(1, 28)}/2020", "%m/%d/%Y"),
        (lambda r: f"2020-05-{r.randint(10, 28)} 10:{r.randint(10, 59)}Z", "iso"),
        (lambda r: f"{r.choice(['Jan', 'March'])} {r.randint(1, 28)}, 2020", "%b %d, %Y"),
        (lambda r: f"{r.randint(1990, 2020)}05{r.randint(10, 28)}", "%Y%m%d"),
        (lambda r: f"{r.randint(1990, 2020)}Q{r.randint(1, 4)}", "%YQ%q"),
        (lambda r: f"{r.randint(1, 12)}:{r.randint(10, 59)} PM", "%I:%M:%S %p"),
        (lambda r: f"{r.randint(0, 23):02}:{r.randint(10, 59)}", "%H:%M:%S"),
    ],
)
def test_dates_are_found_in_the_form_they_are_written_in(make, form):
    found = guess("when", column(make))
    assert (found.role, found.form.format, kinds(found)) == ("date", form, [])


@pytest.mark.parametrize(
    "make",
    [
        lambda r: r.choice(["ja", "nein"]),
        lambda r: r.choice(["true", "false"]),
        lambda r: r.choice(["4wd", "2wd"]),
        lambda r: r.choice(["2013-14", "2014-15"]),
        lambda r: r.choice(["10-20", "20-30"]),
        lambda r: f"{r.randint(0, 80):05}",
        lambda r: f"{r.randint(1, 99)}M" if r.random() < 0.8 else f"{r.randint(1, 99)}k",
        lambda r: r.choice(["１２", "３４"]),
        lambda r: f"{r.randint(1, 99)}" if r.random() < 0.96 else f"V{r.randint(1, 9)}",
    ],
)
def test_words_stay_words(make):
    assert guess("x", column(make)).role in ("category", "text")


@pytest.mark.parametrize("name", ["zip", "PLZ", "flight", "race_id", "LocationID", "phone number"])
def test_whole_numbers_that_are_names_are_no_numbers(name, rng):
    values = rng.integers(1000, 1100, 400).astype(float)
    for brought in (NumberColumn(values), texts([f"{value:.0f}" for value in values])):
        found = guess(name, brought)
        assert (found.role, kinds(found)) == ("category", ["code"])
        assert f'roles={{"{name}": "number"}}' in str(found.noticed[0])
    assert guess(name, NumberColumn(values + 0.5)).role == "number"


@pytest.mark.parametrize(
    "name", ["flight_time", "number of flights", "account_length", "year", "age", "covid", "rating"]
)
def test_counts_and_measurements_stay_numbers_whatever_they_are_called(name, rng):
    assert guess(name, NumberColumn(rng.integers(1, 99, 400).astype(float))).role == "number"


@pytest.mark.parametrize(
    "values",
    [
        np.arange(200.0),
        np.arange(200.0)[::-1] * 0.5,
        np.random.default_rng(0).permutation(200) + 1.0,
        np.sort(np.random.default_rng(0).choice(100_000, 300, replace=False)).astype(float),
    ],
)
def test_what_numbers_the_rows_is_ignored_and_said(values):
    found = guess("n", NumberColumn(values))
    assert (found.role, kinds(found)) == ("ignore", ["running-number"])


@pytest.mark.parametrize("power", [1.5, 2.0, 3.0])
def test_sorted_measurements_are_numbers(power, rng):
    values = np.sort(np.floor(1000 * rng.random(300) ** power * 1000))
    assert guess("population", NumberColumn(np.unique(values))).role == "number"


def test_row_identifiers_are_said():
    random = Random(0)
    found = guess("key", texts([str(uuid.UUID(int=random.getrandbits(128))) for _ in range(99)]))
    assert (found.role, kinds(found)) == ("identifier", ["identifier"])
    found = guess("key", texts([f"ID-{row:04}" for row in range(99)]))
    assert (found.role, kinds(found)) == ("ignore", ["running-number"])


def test_a_log_goes_on_and_a_panel_does_not():
    log = np.cumsum(np.random.default_rng(0).exponential(60.0, 500))
    assert kinds(guess("t", DateColumn(log, True, True))) == ["running-time"]
    assert kinds(guess("t", DateColumn(np.tile(log[:100], 5), True, True))) == []


def test_marks_that_can_be_read_two_ways_are_said():
    found = guess("x", column(lambda r: f"{r.randint(1000, 99999):,}"))
    assert (found.form, kinds(found)) == (NumberForm(".", ","), ["ambiguous-number"])
    assert as_role("x", column(lambda r: f"{r.randint(1000, 9999):,}"), "number:,").form == (
        NumberForm(",")
    )


def test_dates_that_can_be_read_two_ways_are_said_and_mended():
    cells = column(lambda r: f"{r.randint(1, 12)}/{r.randint(1, 12)}/2020")
    found = guess("d", cells)
    assert (found.form.format, kinds(found)) == ("%m/%d/%Y", ["ambiguous-date"])
    assert 'roles={"d": "date:%d/%m/%Y"}' in str(found.noticed[0])
    assert as_role("d", cells, "date:%d/%m/%Y").form == DateForm("%d/%m/%Y", True, False)


@pytest.mark.parametrize("value", [-999.0, 9999.0, -1.0])
def test_sentinels_are_said_and_the_role_stays(value, rng):
    values = rng.integers(18, 80, 400).astype(float)
    assert kinds(guess("age", NumberColumn(values))) == []
    values[:7] = value
    found = guess("age", NumberColumn(values))
    assert (found.role, kinds(found)) == ("number", ["sentinel"])
    assert "in 7 rows" in found.noticed[0].message


def test_a_default_date_is_said(rng):
    days = [f"2020-01-{day:02}" for day in rng.integers(1, 28, 200)] + ["1900-01-01"] * 5
    assert kinds(guess("d", texts(rng.permutation(days).tolist()))) == ["sentinel"]


def test_empty_and_constant_columns_are_said():
    for nothing in (NumberColumn(np.full(9, np.nan)), texts(["", " ", None])):
        found = guess("x", nothing)
        assert (found.role, kinds(found)) == ("category", ["empty"])
    assert kinds(guess("x", NumberColumn(np.full(9, 5.0)))) == ["constant"]
    assert kinds(guess("x", texts(["a"] * 9))) == ["constant"]


def test_every_finding_begins_with_the_name():
    for name in ('a "b"', "größe"):
        for found in (guess(name, NumberColumn(np.arange(99.0))), guess(name, texts([""]))):
            assert all(said.message.startswith(f"{name} ") for said in found.noticed)


@pytest.mark.parametrize("role", ["number", "date"])
def test_a_role_that_fits_no_cell_is_refused_in_words(role):
    with pytest.raises(ValueError, match=f"color cannot be a {role}.*'red'"):
        as_role("color", texts(["red", "blue"]), role)


def test_an_unknown_role_is_refused_in_words():
    with pytest.raises(ValueError, match="roles are number, category"):
        as_role("color", texts(["red"]), "colour")


def test_a_count_that_only_grows_does_not_number_the_rows():
    """The population of a country, year by year: 66 rows, 170,000 numbers."""
    steps = np.random.default_rng(0).integers(1_800, 3_400, 65)
    people = 144_126.0 + np.r_[0, np.cumsum(steps)]
    (said,) = guess("pop", NumberColumn(people)).noticed
    assert said.message.startswith("pop goes on from row to row, from 144126 to ")
    (said,) = guess("part", NumberColumn(1.0 + np.arange(66.0))).noticed
    assert said.message == "part numbers the rows from 1 to 66 and is left out."


def test_a_running_number_can_be_learned_if_asked():
    assert as_role("n", NumberColumn(np.arange(99.0)), "number").role == "number"


odd = st.one_of(
    st.text(max_size=20),
    st.text("0123456789.,:-/ '()<$%€hm TZ", max_size=14),
    st.from_regex(r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}", fullmatch=True),
    st.floats().map(str),
)


@given(st.text(max_size=10), st.lists(odd, max_size=40), st.sampled_from(["number", "date"]))
def test_whatever_is_in_cells_they_get_a_role_or_an_error_in_words(name, cells, role):
    found = guess(name, texts(cells))
    if found.form is not None:
        assert not np.isnan(found.form.read([c for c in cells if not is_missing(c)])).all()
    try:
        assert as_role(name, texts(cells), role).role == role
    except ValueError as error:
        said = str(error)
        assert said.startswith(f"{name} cannot be a {role}: no cell reads as one")


@given(hnp.arrays(float, st.integers(0, 40)), st.sampled_from(["id", "date", "x"]))
def test_whatever_numbers_there_are_they_get_a_role(values, name):
    found = guess(name, NumberColumn(values))
    assert ("empty" in kinds(found)) != np.isfinite(values).any()


@pytest.mark.parametrize("role", ["number", "date", "category", "ignore"])
def test_an_empty_column_is_what_the_user_says(role):
    for nothing in (
        NumberColumn(np.full(3, np.nan)),
        texts(["", "?"]),
        DateColumn(np.zeros(0), True, True),
    ):
        assert as_role("x", nothing, role).role == role


@pytest.mark.slow
def test_a_table_sorted_by_something_else_first_is_no_log():
    days = np.datetime_as_string(np.datetime64("2000-01-01", "s") + np.arange(120_000)).tolist()
    codes = np.tile(np.arange(120_000), 2)
    assert kinds(guess("t", TextColumn(days, codes[:120_000]))) == ["running-time"]
    assert kinds(guess("t", TextColumn(days, codes))) == []


@pytest.mark.slow
def test_a_column_may_begin_with_many_cells_that_cannot_be_read(rng):
    values = ["?!", *(repr(value) for value in rng.normal(size=60_000).tolist())]
    codes = np.concatenate([np.zeros(60_000), np.repeat(np.arange(1, 60_001), 100)])
    found = guess("x", TextColumn(values, codes.astype(np.int64)))
    assert (found.role, found.form) == ("number", NumberForm())


@pytest.mark.growth
@pytest.mark.parametrize(
    "make", [str, lambda n: f"{n * 0.37:.2f}", lambda n: f"some text {n}", lambda n: f"A{n * 7}"]
)
def test_many_different_texts_are_guessed_in_linear_time(make):
    def texts(n):
        return TextColumn([make(k) for k in range(n)], np.arange(n))

    assert_linear(lambda column: guess("x", column), texts, 10_000)


WORDS = ["apple", "pear", "plum", "cherry", "quince", "grape", "fig", "lemon", "lime", "orange"]


def test_texts_that_repeat_at_least_once_on_average_are_a_category():
    words = [f"{first} and {second}" for first in WORDS for second in WORDS]
    assert guess("mix", texts(words * 2)).role == "category"
    assert guess("mix", texts(words + words[:-1])).role == "text"


@pytest.mark.parametrize(
    ("years", "moments"),
    [
        (np.arange(1950.0, 2010.0), True),
        (np.arange(1950.0, 2010.0)[::-1], True),
        (np.arange(1950.0, 2010.0) + 0.5, False),
        (np.arange(60.0), False),
        (np.append(np.arange(1950.0, 2009.0), 20_100.0), False),
        (np.full(60, 1950.0), False),
    ],
)
def test_whole_numbers_called_year_are_moments_if_all_may_be_years(years, moments):
    assert is_numeric_time("year", years) == moments
    assert not is_numeric_time("price", years)


def with_words(good, bad, rows):
    """Cells of which some are words, each another one."""
    return texts(
        [good(k) for k in range(rows - bad)] + [f"w{'abcdefghijk'[k]}" for k in range(bad)]
    )


@pytest.mark.parametrize("rows", [9, 10, 19, 20, 30, 99, 100, 150, 199, 200, 300, 399, 400])
@pytest.mark.parametrize("kind", ["number", "date", "duration"])
def test_one_cell_in_a_hundred_or_two_in_twenty_rows_may_be_no_number(rows, kind):
    write = {
        "number": lambda k: f"{k * k % 97}.5",
        "date": lambda k: f"2020-0{1 + k % 9}-{10 + k % 17}",
        "duration": lambda k: f"{1 + k % 7}h {k % 60}min",
    }[kind]
    may = max(rows // 100, min(2, rows // 10))
    for bad in (may, may + 1):
        found = guess("x", with_words(write, bad, rows))
        assert (found.role in ("number", "date")) == (bad == may)


def test_words_are_identifiers_from_twenty_rows_on_and_categories_if_they_repeat():
    names = [f"{k * 7919 % 10**6:06x}a{k}b" for k in range(2_002)]
    for rows, role in ((20, "identifier"), (19, "text")):
        assert guess("key", texts(names[:rows])).role == role
    for twice, role in ((2, "identifier"), (3, "text")):
        assert guess("key", texts([*names[:198], *names[:twice]])).role == role
    for different, role in ((1_000, "category"), (1_001, "text")):
        assert guess("x", texts(names[:different] * 2)).role == role
    assert guess("x", texts(names[:30] * 2)).role == "category"
    assert guess("x", texts([*names[:31] * 2][:61])).role == "text"
    words = [f"{'abcdefghij'[k % 10]}{'klmnopqrst'[k // 10]}" for k in range(99)]
    assert guess("x", texts(words)).role == "text"  # without digits
    assert kinds(guess("x", texts(["a"]))) == []
    assert kinds(guess("x", texts(["a", "a"]))) == ["constant"]


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


@pytest.mark.parametrize(
    ("name", "values", "role", "said"),
    [
        ("zip", [10115, 80331, 20095], "category", ["code"]),
        ("zip", [1, 0], "number", []),  # a choice of two
        ("zip", [-1, 5, 7], "number", []),
        ("zip", [1.5, 2.0, 3.0], "number", []),
        ("price", [10115, 80331, 20095], "number", []),
    ],
)
def test_numbers_called_codes_are_codes_unless_they_count_or_measure(name, values, role, said):
    found = guess(name, NumberColumn(np.array(values * 10, dtype=float)))
    assert (found.role, kinds(found)) == (role, said)


def test_codes_are_identifiers_if_each_row_has_its_own_and_the_name_says_so(rng):
    values = rng.permutation(rng.choice(10**6, 200, replace=False).astype(float))
    assert guess("user_id", NumberColumn(values)).role == "identifier"
    assert guess("zip", NumberColumn(values)).role == "text"
    twice = values.copy()
    twice[:2] = twice[2:4]
    assert guess("user_id", NumberColumn(twice)).role == "identifier"
    twice[:3] = twice[3:6]
    assert guess("user_id", NumberColumn(twice)).role == "text"
    assert guess("user_id", NumberColumn(values[:19])).role == "text"
    assert guess("user_id", NumberColumn(values[:20])).role == "identifier"


@pytest.mark.parametrize(
    ("name", "values", "moments"),
    [
        ("year", np.repeat([1500.0, 2200.0], 10), True),
        ("year", np.repeat([1499.0, 2200.0], 10), False),
        ("year", np.repeat([1500.0, 2201.0], 10), False),
        ("Jahr", np.repeat([1999.5, 2000.0], 10), False),
        ("year", np.repeat([1999.0, 2000.0], [9, 10]), False),
        ("time", np.repeat(np.arange(10.0), 2), True),
        ("time", np.repeat(np.arange(9.0), 2), False),
        ("time", np.tile(np.arange(10.0), 2), False),
        ("time", np.full(20, 3.0), False),
        ("waiting time", np.repeat(np.arange(10.0), 2), False),
    ],
)
def test_numbers_are_moments_by_name_and_order(name, values, moments):
    assert is_numeric_time(name, values) == moments


def test_roles_may_be_said_with_their_form():
    days = texts(["03.04.2020", "05.06.2020"])
    assert as_role("d", days, "date").form == DateForm("%d.%m.%Y", True, False)
    assert as_role("d", days, "date:%m.%d.%Y").form == DateForm("%m.%d.%Y", True, False)
    clock = as_role("d", texts(["10:30", "11:45"]), "date:%H:%M:%S")
    assert clock.form == DateForm("%H:%M:%S", False, True)
    counted = texts(["1600000000", "1600000001"])
    assert as_role("d", counted, "date:unix").form == DateForm("unix", True, True)
    stamps = NumberColumn(np.array([1.6e9, 1.61e9]))
    assert as_role("d", stamps, "date").form == DateForm("unix", True, True)
    for role in ("category", "text", "identifier", "ignore"):
        assert as_role("d", days, role).role == role
    for role in ("number", "date"):
        assert as_role("x", NumberColumn(np.array([np.nan])), role).role == role
    assert as_role("x", texts([""]), "number:,").form == NumberForm(",")
    assert as_role("x", texts([""]), "date").form == DateForm("iso", True, True)
    with pytest.raises(ValueError, match="the decimal mark is a point or a comma, not ';'"):
        as_role("x", texts(["1,5"]), "number:;")


def test_texts_that_count_the_rows_are_said_from_the_first_to_the_last():
    for before in ([], ["", None]):
        found = guess("key", texts([*before, *(f"ID-{row:04}" for row in range(5, 104))]))
        assert "from ID-0005 to ID-0103" in found.noticed[0].message


@pytest.mark.parametrize("halves", [1, 2])
def test_of_very_many_moments_rows_from_everywhere_say_whether_they_go_on(halves):
    n = 60_000
    minutes = np.concatenate([np.arange(k, n, halves) for k in range(halves)])
    written = np.datetime_as_string(np.datetime64("2020-01-01", "m") + minutes)
    found = guess("at", texts(written.tolist()))
    assert (found.role, kinds(found)) == ("date", ["running-time"] if halves == 1 else [])


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
