"""Detector: the front door takes what people have."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.utils.estimator_checks import check_estimator

import refold
from refold import REF, CreasedREF, Detector
from refold.base.errors import TableError, UserError
from refold.base.findings import RateWarning
from tests.columns.encoding.test_encoder import parts

METHODS = ("creased", "ref")


def with_noise(frame):
    return frame.assign(noise=np.random.default_rng(3).normal(size=len(frame)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*SCIPY_ARRAY_API")
@pytest.mark.parametrize("method", METHODS)
def test_it_passes_every_check_of_scikit_learn(method):
    check_estimator(Detector(method=method), on_skip=None)


@pytest.mark.parametrize(
    ("method", "inside"),
    [
        ("creased", lambda: CreasedREF(alpha=0.05)),
        ("ref", lambda: REF(alpha=0.05, levels="all")),
    ],
)
def test_numbers_alone_are_judged_by_the_estimator_inside(method, inside):
    X = np.random.default_rng(0).normal(size=(300, 4))
    new = np.random.default_rng(1).normal(size=(100, 4)) * 1.5
    detector, estimator = Detector(method=method, alpha=0.05).fit(X), inside().fit(X)
    assert np.array_equal(detector.score_samples(new), estimator.score_samples(new))
    assert detector.threshold_ == estimator.threshold_
    assert np.array_equal(detector.p_values(new), estimator.p_values(new))


@pytest.mark.parametrize(("rows", "alpha"), [(50, 5 / 51), (300, 5 / 301), (1_000, 0.01), (6, 0.5)])
def test_the_rate_is_one_in_a_hundred_or_what_the_rows_allow(rows, alpha):
    X = np.random.default_rng(0).normal(size=(rows, 2))
    assert Detector(method="ref").fit(X).alpha_ == pytest.approx(alpha)


@pytest.mark.parametrize("method", METHODS)
def test_errors_of_every_kind_are_found_and_blamed_on_their_column(method):
    frame = parts(1_500)
    model = Detector(method=method, alpha=0.02).fit(frame)
    usual = parts(60, seed=1)
    errors = {
        "machine": {"machine": "Z9"},
        "torque": {"torque": 900.0},
        "at": {"at": pd.Timestamp("1970-01-01 10:00")},
        "tool": {"tool": "t/12"},
        "ok": {"ok": None},
    }
    for column, cells in errors.items():
        found = model.explain(usual.assign(**cells), nearest=False)
        assert np.mean([row.label == -1 for row in found]) > 0.9, column
        assert np.mean([row.reasons[0].feature == column for row in found]) > 0.9, column
    assert np.mean(model.predict(parts(2_000, seed=2)) == -1) < 0.05


@pytest.mark.parametrize("method", METHODS)
def test_what_a_closed_column_never_had_is_always_rejected(method):
    rng = np.random.default_rng(0)
    # So many columns that one surprise hardly moves a mean.
    frame = pd.DataFrame(rng.choice(["a", "b", "c"], size=(400, 40))).add_prefix("c")
    model = Detector(method=method).fit(frame)
    new = frame.iloc[:20].copy()
    new["c7"] = "d"
    assert (model.predict(new) == -1).all()
    assert all(row.reasons[0].feature == "c7" for row in model.explain(new, nearest=False))
    new = frame.iloc[:20].copy()
    new["c9"] = None
    assert (model.predict(new) == -1).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_missing_or_unreadable_number_is_abnormal_where_it_never_was(method):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    model = Detector(method=method).fit(frame)
    new = frame.iloc[:3].astype(object)
    new.loc[0, "a"], new.loc[1, "b"] = None, "<0.05"
    assert model.predict(new).tolist()[:2] == [-1, -1]
    assert "missing" in str(model.explain(new)[0])
    assert "'<0.05' is not a number" in str(model.explain(new)[1])
    with_gaps = frame.copy()
    with_gaps.iloc[::10, 0] = np.nan
    often = Detector(method=method).fit(with_gaps)
    assert often.predict(with_gaps.iloc[[0, 10, 20]]).tolist() == [1, 1, 1]


def test_unreadable_cells_in_training_are_noticed_and_stop_nothing():
    frame = parts().astype({"torque": str})
    frame.loc[[7, 9], "torque"] = ["<0.05", "n.a.!"]
    model = Detector().fit(frame)
    (found,) = [found for found in model.noticed_ if found.kind == "unreadable"]
    assert "2 cells that are not numbers, such as '<0.05' in row 7" in str(found)
    assert (found.rows, found.values) == ((7, 9), ("<0.05", "n.a.!"))
    assert model.columns_[1].unreadable == 2


def test_a_million_different_texts_take_bounded_memory_and_it_is_said(monkeypatch):
    from refold.columns.encoding import value_counts

    monkeypatch.setattr(value_counts, "MOST_VALUES", 2**10)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"key": [f"k{k:06d}" for k in rng.permutation(50_000)]})
    frame["machine"] = rng.choice(["A", "B"], 50_000)
    model = Detector(method="ref", roles={"key": "text"}).fit(frame)
    (found,) = [found for found in model.noticed_ if found.kind == "many-values"]
    assert found.column == "key"
    assert len(model.encoder_.counts.others[0].values.counts) <= 2**10
    new = pd.DataFrame({"key": ["k999999", "K/1"], "machine": ["A", "A"]})
    scores = model.score_samples(new)
    assert scores[0] > scores[1]


@pytest.mark.parametrize("columns", [slice(None), ["torque", "noise"]])
@pytest.mark.parametrize("method", ["creased", "ref"])
def test_a_row_without_any_value_is_judged_and_spoils_no_other(method, columns):
    frame = with_noise(parts())[columns]
    model = Detector(method=method).fit(frame)
    rows = frame.iloc[:3].astype(object)
    rows.iloc[1] = None
    rows = rows.convert_dtypes()
    others = rows.iloc[[0, 2]]
    assert model.predict(rows)[1] == -1
    np.testing.assert_array_equal(model.score_samples(rows)[[0, 2]], model.score_samples(others))
    assert model.p_values(rows)[1] == model.p_values(rows).min()
    explained = model.explain(rows)[1]
    count = frame.shape[1]
    assert explained.reasons[0].words == f"no value in {count} of {count} columns"
    accepted = rows.astype(object)
    for cell in explained.changes:
        accepted.loc[accepted.index[1], cell.feature] = cell.value
    assert not explained.changes or model.predict(accepted)[1] == 1
    with pytest.raises(TableError, match="Nothing is observed in row 1"):
        model.accept(rows)


@pytest.mark.parametrize("method", ["creased", "ref"])
@pytest.mark.parametrize("rows", [60, 400])
@pytest.mark.parametrize("columns", [slice(None), ["torque", "noise"]])
def test_a_column_with_one_value_is_said_and_fit_goes_on(method, rows, columns):
    frame = with_noise(parts(rows))[columns]
    some = frame.assign(built=np.where(np.arange(rows) == 7, 1987.0, np.nan))
    with pytest.warns(RateWarning, match=rf"built has a value in one of {rows} rows, row 7"):
        model = Detector(method=method).fit(some)
    assert [each.column for each in model.noticed_ if each.kind == "single-value"] == ["built"]
    # Rows without a value there are judged as if there were no such column, or nearly so.
    plain = Detector(method=method).fit(frame)
    new = with_noise(parts(200, seed=1))[columns]
    assert np.mean(model.predict(new.assign(built=np.nan)) == plain.predict(new)) > 0.95


def test_infinity_is_refused_where_it_is():
    frame = parts()
    model = Detector(method="ref").fit(frame)
    bad = frame.iloc[:3].copy()
    bad.loc[1, "torque"] = np.inf
    with pytest.raises(TableError, match="row 1, column 'torque'"):
        model.predict(bad)
    with pytest.raises(TableError, match="row 1, column 'torque'"):
        Detector().fit(bad)


def test_trim_leaves_out_what_looks_least_like_the_rest():
    frame = parts(600)
    bad = parts(24, seed=5).assign(torque=lambda f: f["torque"] + 40.0, machine="B2")
    mixed = pd.concat([frame, bad], ignore_index=True)
    new = bad.assign(torque=bad["torque"] + 1.0)
    plain = Detector(alpha=0.05).fit(mixed)
    trimmed = Detector(alpha=0.05, trim=0.05).fit(mixed)
    assert len(trimmed.dropped_) == int(0.05 * len(mixed))
    assert np.mean(trimmed.dropped_ >= 600) > 0.6
    assert -trimmed.score_samples(new).mean() / trimmed.threshold_ > (
        -plain.score_samples(new).mean() / plain.threshold_
    )
    clean = Detector(alpha=0.05, trim=0.05).fit(frame)
    assert np.mean(clean.predict(parts(2_000, seed=3)) == -1) < 0.08


def test_calibrating_on_other_rows_keeps_the_rate():
    model = Detector(method="ref").fit(parts(500)).calibrate(parts(1_000, seed=7), alpha=0.1)
    assert (model.alpha_, model.calibration_.source) == (0.1, "held-out")
    assert np.mean(model.predict(parts(3_000, seed=8)) == -1) == pytest.approx(0.1, abs=0.03)


def test_hostile_names_and_values_are_only_text():
    names = ["'; drop table x; --", "=cmd()", "a\x00b", "😀", "surprise(a)"]
    rng = np.random.default_rng(0)
    wild = ["<script>", "\x1b[2J", "x" * 10**6, "\ud800", "'; --"]
    cells = {name: rng.choice(np.array(wild, dtype=object), 200) for name in names}
    frame = pd.DataFrame(cells, dtype=object)
    model = Detector(method="ref").fit(frame)
    assert model.predict(frame).shape == (200,)
    text = str(model.explain(frame.assign(**{"=cmd()": "never\x1b[31m"}))[0])
    assert "\x1b" not in text
    assert len(text) < 2_000


def test_a_table_without_anything_to_learn_says_so():
    with pytest.raises(UserError, match=r"no column to learn.*row"):
        Detector().fit(pd.DataFrame({"id": range(100)}))


def test_public_names_lead_to_it():
    assert refold.Detector is Detector
    assert {"Detector", "TableEncoder"} <= set(refold.__all__)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [40, 150, 300])
def test_what_is_said_of_single_faults_is_what_happens_to_them(method, n):
    data = load_breast_cancer(as_frame=True)
    benign = data.data[data.target == 1].iloc[:, :12]
    benign["ward"] = np.random.default_rng(0).choice(["north", "south", "west"], len(benign))
    train, new = benign.iloc[:n], benign.iloc[300:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", refold.RateWarning)
        model = Detector(method=method, alpha=0.05).fit(train)
    caught = []
    for name in benign.columns[:-1]:
        low, high = train[name].min(), train[name].max()
        faulty = new.assign(**{name: high + 0.25 * (high - low)})
        caught.append(np.mean(model.predict(faulty) == -1))
    said = any(found.kind == "too-few-rows" for found in model.noticed_)
    assert said == (np.mean(caught) < 0.5)
    assert all(f"of {len(caught)} columns" in str(f) for f in model.noticed_ if "too-few" in f.kind)


@pytest.mark.parametrize("method", ["ref", "creased"])
@pytest.mark.parametrize("mixed", [False, True])
def test_a_number_of_a_new_sign_is_an_outlier_and_its_column_the_reason(method, mixed, rng):
    table = pd.DataFrame(rng.gamma(2.0, 9.0, size=(400, 8)), columns=list("abcdefgh"))
    if mixed:
        table["kind"] = rng.choice(["x", "y"], 400)
    model = Detector(method=method).fit(table)
    usual = table[model.predict(table) == 1].head(20)
    assert (model.predict(usual.assign(c=0.0)) == 1).mean() > 0.8  # zero itself is no new sign
    odd = usual.assign(c=-0.5)
    assert (model.predict(odd) == -1).all()
    assert {row.reasons[0].feature for row in model.explain(odd, nearest=False)} == {"c"}
