"""Columns that say nothing, say the same as another, or say too much."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from refold import Detector, check
from tests.growth import assert_linear


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def kinds_of(column, rng, name="it", n=300):
    """The kinds of what is said of one column beside a harmless one."""
    found = check(pd.DataFrame({"x": rng.normal(size=n), name: column}))
    return [each.kind for each in found if each.column == name]


def test_clean_numbers_and_categories_have_nothing_to_look_at(rng):
    table = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    table["e"], table["f"] = rng.choice(["left", "right"], 400), rng.poisson(9, 400)
    assert len(check(table)) == 0
    assert str(check(table)) == "Nothing was noticed in 400 rows and 6 columns."


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_wine, load_diabetes])
def test_kinds_that_differ_in_size_are_no_units(load):
    assert not check(load(as_frame=True).data).of("mixed-units")


def test_constant_and_nearly_constant_columns(rng):
    almost = np.zeros(2000)
    almost[3] = 1.0
    assert kinds_of(np.full(300, 5), rng) == ["constant"]
    found = check(pd.DataFrame({"x": rng.normal(size=2000), "it": almost})).of("constant")[0]
    assert found.rows == (3,)
    assert found.message == "it is 0 in all but 1 of 2,000 rows."
    assert kinds_of(rng.choice(["a", "b"], 300), rng) == []


@pytest.mark.parametrize(
    "column",
    [
        np.arange(300) + 4711,
        np.cumsum(np.random.default_rng(2).integers(1, 4, 300)),
        [f"P-{k:05d}" for k in range(300)],
        np.random.default_rng(2).permutation(300),
    ],
    ids=["counted", "with gaps", "texts", "mixed up"],
)
def test_running_numbers(column, rng):
    assert kinds_of(column, rng) == ["running-number"]


def test_identifiers(rng):
    words = [f"{k:08x}" for k in rng.integers(0, 2**32, 300)]
    assert kinds_of([f"k{word}" for word in words], rng) == ["identifier"]


def test_a_copy_of_a_column_whatever_it_holds(rng):
    names = rng.choice(["left", "right", "middle"], 300)
    numbers = rng.normal(size=300)
    numbers[7] = np.nan
    table = pd.DataFrame({"a": names, "b": numbers, "c": names, "d": numbers, "e": -numbers})
    found = check(table)
    assert [(f.column, f.values) for f in found.of("duplicate-column")] == [
        ("c", ("a",)),
        ("d", ("b",)),
    ]
    assert [(f.column, f.values) for f in found.of("dependent")] == [("e", ("b",))]


def test_columns_that_are_functions_of_each_other(rng):
    inches = rng.uniform(1, 9, 400)
    city = rng.choice(["Rome", "Oslo", "Bonn", "Lyon"], 400)
    code = pd.Series(city).map({"Rome": "I", "Oslo": "N", "Bonn": "D", "Lyon": "F"})
    table = pd.DataFrame({"in": inches, "mm": (25.4 * inches).round(1), "city": city, "cc": code})
    found = {each.column: each for each in check(table).of("dependent")}
    assert found["mm"].message == "mm is 25.4 times in in nearly every row."
    assert found["cc"].values == ("city",)
    noisy = table.assign(mm=table["mm"] * rng.normal(1, 0.1, 400))
    assert "mm" not in [each.column for each in check(noisy).of("dependent")]


@pytest.mark.parametrize(
    ("name", "usual", "other", "leaks"),
    [
        ("class", "0", "1", True),
        ("is_fraud", "no", "yes", True),
        ("state", "normal", "anomaly", True),
        ("Verdict", "OK", "NOK", True),
        ("machine", "left", "right", False),
        ("workclass", "Private", "State", False),
        ("balance", "Better", "Good", False),
    ],
)
def test_labels_that_leaked_in(rng, name, usual, other, leaks):
    odd = rng.random(500) < 0.05
    column = np.where(odd, other, usual)
    table = pd.DataFrame({"x": rng.normal(size=500), name: column})
    found = check(table).of("leak")
    assert [each.rows for each in found] == ([tuple(np.flatnonzero(odd).tolist())] if leaks else [])
    assert tuple(f for f in Detector().fit(table).noticed_ if f.kind == "leak") == found


@pytest.mark.parametrize("name", ["class", "result", "y", "target"])
@pytest.mark.parametrize(
    ("values", "separated", "leaks"),
    [
        (("0", "1"), True, True),
        (("0", "1"), False, False),
        (("plurality", "majority"), True, False),
    ],
)
def test_a_label_needs_more_than_a_name(rng, name, values, separated, leaks):
    """A quarter of the rows is not rare by itself: another column has to tell them apart."""
    odd = rng.random(500) < 0.25
    x = rng.normal(size=500) + (3.0 * odd if separated else 0.0)
    found = check(pd.DataFrame({"x": x, name: np.where(odd, values[1], values[0])}))
    assert bool(found.of("leak")) == leaks


def test_one_of_many_results_that_sounds_bad_makes_no_label(rng):
    """What became of bakers: of "sick" people among "IN", "OUT" and "WINNER" nothing follows."""
    chances = [0.72, 0.12, 0.06, 0.06, 0.04]
    result = rng.choice(["IN", "OUT", "WINNER", "RUNNER-UP", "SICK"], 600, p=chances)
    table = pd.DataFrame({"x": rng.normal(size=600), "result": result})
    assert not check(table).of("leak")
    attacks = rng.choice(["normal", "smurf", "neptune", "satan", "nmap"], 600, p=chances)
    assert check(table.assign(result=attacks)).of("leak")


def test_postcodes_with_more_digits_are_no_texts_among_numbers(rng):
    cells = [str(k) for k in rng.integers(98101, 98199, 900)]
    cells[5::33] = [f"{k}-{rng.integers(1000, 9999)}" for k in cells[5::33]]
    table = pd.DataFrame({"zip_code": cells, "x": rng.normal(size=900)})
    assert not check(table).of("mixed-format")
    assert check(table.rename(columns={"zip_code": "reading"})).of("mixed-format")


def test_numbers_within_groups_do_not_follow_from_those_of_the_groups(rng):
    """As pupils of a school are numbered: ordered alike, but no function of it."""
    school = np.sort(rng.integers(1, 130, 2000))
    pupil = 10_000 * school + 7030 + rng.integers(-3000, 3000, 2000)
    table = pd.DataFrame({"school_size": school, "pupil_size": pupil})
    assert not check(table.sample(frac=1, random_state=0)).of("dependent")


def test_most_rows_at_zero_do_not_make_two_columns_follow_from_each_other(rng):
    some = rng.random(3000) < 0.05
    one = np.where(some, rng.uniform(1, 9, 3000), 0.0)
    other = np.where(some, one * rng.uniform(0.8, 1.2, 3000), 0.0)
    assert not check(pd.DataFrame({"a": one, "b": other})).of("dependent")
    assert check(pd.DataFrame({"a": one, "b": one**2})).of("dependent", "b")


def test_one_value_spares_counts_and_amounts(rng):
    zero = rng.random(500) < 0.6
    assert kinds_of(np.where(zero, 0, rng.poisson(9, 500)), rng, n=500) == []
    assert kinds_of(np.where(zero, 0.0, rng.exponential(9.0, 500)), rng, n=500) == []
    pressure = np.where(zero, 0.0, rng.normal(120.0, 9.0, 500))
    assert kinds_of(pressure, rng, n=500) == ["one-value"]
    imputed = np.where(zero, 29.699, rng.uniform(1, 80, 500))
    assert kinds_of(imputed, rng, n=500) == ["one-value"]


def test_numbers_in_two_units(rng):
    mm = rng.normal(300, 20, 500)
    rows = np.sort(rng.choice(500, 40, replace=False))
    for factor, offset, said in ((1 / 25.4, 0, "25.4"), (1000, 0, "1,000"), (0.1, 0, "10 times")):
        mixed = mm.copy()
        mixed[rows] = mixed[rows] * factor + offset
        (found,) = check(pd.DataFrame({"length": mixed, "x": rng.normal(size=500)}))
        assert (found.kind, found.rows) == ("mixed-units", tuple(rows.tolist()))
        assert said in found.message


def test_celsius_among_fahrenheit(rng):
    heat = rng.uniform(15, 25, 500)
    heat[:60] = 1.8 * heat[:60] + 32
    (found,) = check(pd.DataFrame({"heat": heat[rng.permutation(500)]}))
    assert found.kind == "mixed-units"
    assert "°F" in found.message


def test_two_kinds_of_things_are_not_two_units(rng):
    heaps = np.where(rng.random(500) < 0.3, rng.normal(37, 1, 500), rng.normal(12, 2, 500))
    assert kinds_of(heaps, rng, n=500) == []


def test_a_few_rows_that_are_about_a_factor_larger_are_no_other_unit(rng):
    deaths = np.concatenate([rng.normal(20_000, 4_000, 190), rng.normal(65_600, 13_000, 42)])
    assert "mixed-units" not in kinds_of(deaths.clip(8_000).round(), rng, n=232)


@pytest.mark.parametrize("seed", range(5))
def test_the_sparse_end_of_a_long_tail_is_in_no_other_unit(seed):
    """A gap of a factor of two below numbers that go over more than a decade."""
    rng = np.random.default_rng(seed)
    days = np.concatenate([rng.integers(52, 373, 200), rng.integers(4, 26, 10)]).astype(float)
    assert "mixed-units" not in kinds_of(days, rng, n=210)


def test_texts_among_numbers_are_counted(rng):
    cells = [f"{v:.2f}" for v in rng.uniform(0, 9, 3000)]
    cells[7:2900:50] = ["T"] * 58
    (found,) = check(pd.DataFrame({"rain": cells, "x": rng.normal(size=3000)})).of("mixed-format")
    assert "but for 58 rows (1.93 %) with texts such as 'T'" in found.message


def test_what_goes_on_by_less_than_one_does_not_number_the_rows(rng):
    (found,) = check(pd.DataFrame({"angle": np.arange(120) / 20, "x": rng.normal(size=120)}))
    assert found.message == "angle goes on from row to row, from 0 to 5.95, and is left out."


@pytest.mark.parametrize(("name", "is_time"), [("at_bat", False), ("recorded_at", True)])
def test_a_count_whose_name_has_a_preposition_is_no_time(rng, name, is_time):
    grows = np.sort(rng.integers(0, 680, 400))
    found = check(pd.DataFrame({name: grows, "x": rng.normal(size=400)})).of("numeric-time")
    assert bool(found) == is_time


def test_units_behind_numbers(rng):
    cells = [f"{v:.1f} {'kg' if k % 5 else 'lb'}" for k, v in enumerate(rng.uniform(50, 90, 300))]
    assert kinds_of(cells, rng) == ["mixed-units"]


def test_mixed_forms(rng):
    days = pd.date_range("2024-01-01", periods=300)[rng.permutation(300)]
    two = [f"{d:%Y-%m-%d}" if k % 4 else f"{d:%d.%m.%Y}" for k, d in enumerate(days)]
    assert "mixed-format" in kinds_of(two, rng)
    some = [f"{v:.2f}" if k % 9 else "n.v." for k, v in enumerate(rng.normal(size=300))]
    assert kinds_of(some, rng) == ["mixed-format"]
    spelled = rng.choice(["female", "Female ", "male"], 300)
    assert kinds_of(spelled, rng) == ["mixed-format"]
    assert kinds_of(rng.choice(["female", "male"], 300), rng) == []


def test_a_long_table_is_numbered_from_its_first_row_to_its_last(rng):
    table = pd.DataFrame({"x": rng.normal(size=12_000), "part": np.arange(12_000)})
    (found,) = check(table).of("running-number")
    assert found.values == (0.0, 11_999.0)


def test_a_time_written_as_a_number_is_said_by_check_and_at_fit(rng):
    """Two months later every row would lie beyond it."""
    table = pd.DataFrame({"nights": rng.poisson(3, 600), "rate": rng.normal(90, 20, 600)})
    table["arrival_date_num"] = 42186 + np.sort(rng.integers(0, 150, 600))
    (found,) = check(table).of("numeric-time")
    assert found.column == "arrival_date_num"
    assert found.values == (42186.0, float(table["arrival_date_num"].max()))
    assert found in Detector().fit(table).noticed_
    for other in ("duration_time", "price"):
        renamed = table.rename(columns={"arrival_date_num": other})
        assert not check(renamed).of("numeric-time")
    mixed = table.assign(year=rng.integers(2015, 2018, 600))
    assert check(mixed.drop(columns="arrival_date_num")).of("numeric-time", "year")
    assert "numeric-time" not in check(table, roles={"arrival_date_num": "ignore"}).kinds


def test_work_grows_as_columns_do():
    """Of wide tables some columns are compared; cells are looked at in all of them."""

    def wide(columns):
        rng = np.random.default_rng(0)
        table = {f"c{k}": rng.normal(size=40) for k in range(columns)}
        table |= {f"t{k}": rng.choice(["a", "b", "c"], 40) for k in range(0, columns, 10)}
        return pa.table(table)

    assert_linear(check, wide, 600)
    rows = wide(1200).to_pandas()
    rows.loc[7, "c1111"] = 1e6
    assert check(rows).of("absurd-cell", "c1111")
