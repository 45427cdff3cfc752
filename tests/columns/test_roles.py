"""What a column is taken for, and what is said about it."""

import uuid
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from refold.columns import roles
from refold.columns.date_form import DateForm
from refold.columns.missing import is_missing
from refold.columns.number_form import NumberForm
from refold.columns.role_findings import identifier
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


@pytest.mark.parametrize("order", [1, -1])
def test_from_where_to_where_numbers_and_dates_go_is_said(order):
    (found,) = guess("n", NumberColumn(np.arange(7.0, 200.0)[::order])).noticed
    assert "from 7 to 199" in str(found)
    (found,) = guess("year", NumberColumn(np.tile(np.arange(1990.0, 2020.0)[::order], 2))).noticed
    assert "from 1990 to 2019" in str(found)
    days = DateColumn(1.7e9 + 86_400.0 * np.arange(100), has_date=True, has_clock=False)
    (found,) = guess("t", days).noticed
    assert "from 2023-11-14 to 2024-02-21" in str(found)


@pytest.mark.parametrize(("bad", "role"), [(1, "date"), (2, "number")])
def test_one_number_of_a_hundred_may_be_no_day(bad, role, rng):
    days = rng.permutation([20_240_001.0 + 100 * (1 + k % 12) + k // 12 for k in range(99)])
    assert guess("day", NumberColumn(np.append(days[bad - 1 :], [12_345.0] * bad))).role == role


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
    assert found.is_open
    assert replace(found, noticed=(*found.noticed, identifier("x", "1.000"))).is_open
    assert not replace(found, noticed=(identifier("x", "1.000"),)).is_open
    assert not replace(found, noticed=()).is_open
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


def test_so_many_numbers_as_are_looked_at_are_all_looked_at(rng):
    few, many = rng.normal(size=2000), rng.normal(size=2001)
    assert roles._drawn(few) is few
    assert len(roles._drawn(many)) == 2000
    assert set(roles._drawn(many)) < set(many)
