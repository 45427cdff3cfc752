"""Tables of texts, dates and numbers: what is said of each cell is true, and in the right words."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from palmerpenguins import load_penguins

from refold import Detector, explain
from refold.explanation import Explanation, Reason

from ..tables import of_tables, real_table
from .table_sentences import TrainingRows

TABLES = of_tables(
    *("clean-flights.csv.gz", "airports.csv", "planes.csv", "clean-adult_c.csv.gz"),
    *("clean-airports.csv.gz", "clean-congress.csv.gz", "clean-taxis.csv.gz"),
    *("natural-churn.csv.gz", "natural-credit-g.csv.gz", "natural-hypothyroid.csv.gz"),
    "natural-mushroom.csv.gz",
)
SHARE = re.compile(r" – (?:\d+ %|less than 1 %) of the distance.*")


@pytest.fixture(scope="module")
def orders():
    """Rows with every kind of column; what is odd about a new one is known."""
    rng, n = np.random.default_rng(0), 2000
    color = rng.choice(["red", "green"], n, p=[0.6, 0.4])
    payment = np.where(color == "green", "card", rng.choice(["card", "cash"], n))
    when = pd.Series(pd.date_range("2026-01-01", periods=n, freq="h"))
    working = (when.dt.hour >= 6) & ~when.dt.day_name().isin(["Saturday", "Sunday"])
    when = when[working].sample(n, replace=True, random_state=0)
    return pd.DataFrame(
        {
            "color": color,
            "payment": payment,
            "part": [f"N{rng.integers(100, 999)}AB" for _ in range(n)],
            "when": when.dt.strftime("%Y-%m-%d %H:%M").to_numpy(),
            "torque [Nm]": rng.normal(75.0, 2.0, n).round(2),
        }
    )


@pytest.fixture(scope="module", params=["creased", "ref"])
def detector(request, orders):
    return Detector(method=request.param, alpha=0.01).fit(orders)


def changed(orders, **cells):
    row = orders.iloc[[0]].astype(object).assign(color="red", payment="card")
    return row.assign(when="2026-02-03 12:00").assign(**cells)


SENTENCES = [
    ({"color": "blue"}, "color 'blue' was never seen (2 values in 2,000 rows)"),
    ({"part": "ab-12"}, "part 'ab-12' has another form than 'N"),
    ({"color": "green", "payment": "cash"}, "never occurs where"),
    ({"when": "2026-02-01 12:00"}, "when 2026-02-01 12:00 is a Sunday (none of 2,000 rows)"),
    (
        {"when": "2026-02-03 03:12"},
        "when 2026-02-03 03:12 is at 03:12; no row between 0 and 6 o'clock",
    ),
    ({"when": "1970-01-01 12:00"}, "when 1970-01-01 12:00 is before all (2026-01-01 to "),
    (
        {"when": "03.02.2026 12:00"},
        "when '03.02.2026 12:00' cannot be read as a date: it has another form than "
        "'2026-12-11 10:09'",
    ),
    ({"color": None}, "color is missing; it never was in training"),
    (
        {"torque [Nm]": "<0.05"},
        "torque '<0.05' is not a number; it always was one in training",
    ),
    ({"torque [Nm]": 91.2}, "torque 91.2 Nm is "),
]


@pytest.mark.parametrize(("cells", "said"), SENTENCES)
def test_what_is_odd_is_said_first_and_in_words(detector, orders, cells, said):
    found = detector.explain(changed(orders, **cells))[0]
    assert found.label == -1
    assert said in str(found.reasons[0])
    assert found.reasons[0].feature in cells


def test_a_usual_row_is_normal(detector, orders):
    assert detector.explain(changed(orders))[0].label == 1


def test_values_are_as_they_were_written(detector, orders):
    row = detector.explain(changed(orders, color=" Blue ", part=None))[0]
    values = {reason.feature: reason.value for reason in row.reasons}
    assert values["color"] == " Blue "
    assert values["when"] == "2026-02-03 12:00"
    assert np.isnan(values["part"])
    assert values["torque [Nm]"] == orders["torque [Nm]"][0]


def test_what_a_closed_column_never_had_is_named_however_few_reasons_are_asked_for(
    detector, orders
):
    odd = changed(orders, color="blue", payment="barter", **{"torque [Nm]": 1e9})
    row = detector.explain(odd, reasons=1)[0]
    assert {reason.feature for reason in row.reasons if reason.novel} == {"color", "payment"}
    assert "'blue'" in row.text(1)
    assert "'barter'" in row.text(1)


def test_the_way_out_is_accepted(detector, orders):
    odd = changed(orders, color="blue")
    changes = detector.explain(odd)[0].changes
    assert [cell.feature for cell in changes] == ["color"]
    assert detector.predict(odd.assign(**{cell.feature: cell.value for cell in changes})) == 1
    assert detector.explain(odd, nearest=False)[0].changes == ()


def test_nobody_can_steer_a_terminal_by_a_cell(detector, orders):
    hostile = "\x1b[2J\u202e'; drop table" + "x" * 100_000
    text = str(detector.explain(changed(orders, color=hostile))[0])
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(len, text.split("\n"))) < 300


def test_texts_go_into_documents_and_frames(detector, orders):
    found = detector.explain(changed(orders, color="blue", part=None))
    document = json.loads(json.dumps(found[0].to_dict(), allow_nan=False))
    values = {reason["feature"]: reason["value"] for reason in document["reasons"]}
    assert (values["color"], values["part"]) == ("blue", None)
    for backend in ("pandas", "polars", "pyarrow"):
        frame = found.to_frame(backend)
        assert "blue" in list(map(str, frame["value"].to_list() if backend != "pyarrow" else
                                  frame["value"].to_pylist()))  # fmt: skip


@pytest.mark.parametrize("method", ["creased", "ref"])
def test_of_numbers_alone_it_says_what_the_estimator_inside_does(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3))
    model = Detector(method=method, alpha=0.05).fit(X)
    new = np.vstack([X[:20], X[:20] * 3.0])
    assert str(model.explain(new)) == str(explain(model.model_, new))


def corrupted(rows, rng):
    """Return rows with one cell each that may be wrong: of another row, mangled, or missing."""
    out = rows.astype(object).copy()
    for i in range(len(out)):
        j = rng.integers(out.shape[1])
        value = out.iat[i, j]
        other = rows.iat[rng.integers(len(rows)), j]
        text = str(value)
        mangled = text[::-1] if rng.random() < 0.5 else text + "?"
        out.iat[i, j] = [other, None, mangled if isinstance(value, str) else -999][rng.integers(3)]
    return out


@pytest.mark.parametrize("method", ["creased", "ref"])
@pytest.mark.parametrize("name", TABLES)
def test_on_real_tables_every_sentence_is_true(name, method):
    table = pd.read_csv(real_table(name))
    if "row_is" in table:
        table = table[table["row_is"] == "normal"].drop(columns="row_is")
    table = table.sample(frac=1.0, random_state=1).reset_index(drop=True)
    train, rest = table[:800], table[800:860].reset_index(drop=True)
    model = Detector(method=method, alpha=0.05).fit(train)
    roles = {column.name: column.role for column in model.columns_}
    truth = TrainingRows(train, roles, lambda c: pd.to_datetime(c).dt.tz_localize(None))
    new = corrupted(rest, np.random.default_rng(0))
    explained, labels = model.explain(new), model.predict(new)
    assert [row.label for row in explained] == labels.tolist()
    for row in explained:
        for reason in row.reasons:
            check_reason(truth, reason)
        if row.changes:
            mended = new.iloc[[row.row]].assign(**{c.feature: c.value for c in row.changes})
            assert model.predict(mended) == 1
            assert row.changes[0].feature in {r.feature for r in row.reasons[:3]}


def check_reason(truth, reason):
    said = SHARE.sub("", str(reason)).removeprefix(f"{reason.feature} ")
    if reason.words:
        assert truth.check(reason.feature, said), str(reason)
    assert bool(reason.normal) == (reason.role == "number")
    assert reason.share >= 0.0
    assert not (reason.novel and reason.view not in ("unseen", "missing", "unreadable", "beside"))


def test_of_a_row_without_any_value_that_is_said_once(orders):
    model = Detector(alpha=0.01).fit(orders)
    row = model.explain(pd.DataFrame({name: [None] for name in orders}))[0]
    assert row.label == -1
    assert row.sentence() == "no value in 5 of 5 columns"
    assert row.text().startswith("row 0: outlier; no value in 5 of 5 columns\n  ")
    assert row.because() == ["no value in 5 of 5 columns"]


@pytest.mark.parametrize("half", [0, 1])
def test_cells_that_are_missing_for_the_first_time_are_the_reasons(half):
    birds = load_penguins().dropna()
    measured = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    model = Detector().fit(birds.iloc[half::2])
    new = birds.iloc[[3, 200, 300]].copy()
    new[measured] = np.nan
    for explanation in explain(model, new):
        assert {reason.feature for reason in explanation.reasons[:4]} == set(measured)
        assert explanation.sentence().endswith("is missing; it never was in training")


def test_a_number_outside_its_range_is_the_reason_though_its_partner_is_rare(rng):
    place = np.concatenate([np.repeat(np.arange(46), 12), np.repeat(np.arange(46, 56), 7)])
    rate = np.where(place < 46, 5.0, 40.0) + rng.exponential(4.0, len(place))
    rows = pd.DataFrame({"place": [f"p{k}" for k in place], "rate": rate.round(2)})
    rows["load"] = rng.integers(10, 60, len(place))
    model = Detector().fit(rows.sample(frac=1.0, random_state=0))
    for explanation in explain(model, rows.iloc[-3:].assign(rate=-7.4)):
        assert "below the lowest normal value" in explanation.sentence()


def test_a_text_in_a_column_of_numbers_is_the_reason_not_what_never_goes_with_a_gap(rng):
    treated = rng.random(200) < 0.5
    rows = pd.DataFrame({"arm": np.where(treated, "drug", "control")})
    rows["wait"] = np.where(treated, rng.integers(1, 90, 200), np.nan)
    model = Detector().fit(rows.assign(age=rng.integers(20, 70, 200)))
    (explanation,) = explain(model, [{"arm": "drug", "wait": "<3", "age": 40}])
    assert explanation.sentence() == "wait '<3' is not a number; it always was one in training"


def test_what_is_unusual_only_with_all_the_others_but_odd_by_itself_is_said_so():
    lead = Reason("arm", "qrug", 0.0, 0.0, (), False, 0.0, view="unseen", words="was never seen")
    row = Explanation(0, -1, 3.0, 1.0, None, (), together=True, combination=(lead,))
    assert row.sentence() == "arm 'qrug' was never seen"


def test_a_slice_of_numbers_is_told_by_its_only_value_or_by_ends_that_differ(rng):
    side, at = rng.integers(0, 2, 600), rng.integers(0, 20, 600)
    rows = pd.DataFrame({"side": side, "place": np.where(side == 1, "left", "right")})
    rows["latitude"] = 48.85 + 0.0005 * at + rng.uniform(0, 1e-4, 600)
    rows["stop"] = [f"s{k}" for k in at // 4]
    model = Detector().fit(rows)
    first = rows.iloc[[0]]
    other = "left" if side[0] == 0 else "right"
    (swapped,) = explain(model, first.assign(place=other))
    assert f"never occurs where side is {side[0]} (" in str(swapped)
    (moved,) = explain(model, first.assign(stop="s0" if at[0] > 11 else "s4"))
    low, high = re.search(r"latitude is from (\S+) to below (\S+)", str(moved)).groups()
    assert float(low) < float(high)


def test_a_number_far_outside_is_the_reason_not_what_never_goes_with_it(rng):
    """What lies far beyond all values is in the last slice of them only because it has no other."""
    age = rng.uniform(20, 60, 400)
    table = pd.DataFrame({"age": age, "group": np.where(age < 40, "young", "old")})
    table["x"] = rng.normal(size=400)
    odd = pd.DataFrame({"age": [80.0], "group": ["young"], "x": [0.0]})
    (said,) = Detector().fit(table).explain(odd)
    assert said.sentence().startswith("age 80 is ")
