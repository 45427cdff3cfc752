"""Every model learns from parts what it would from all rows, whatever the parts."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

import refold
from refold import REF, CreasedREF, Detector, TableEncoder, scale
from refold.algorithm import kernels
from refold.models.draws import draws
from refold.models.parts import drawn
from refold.tabular import InputError
from tests.tables import real_table

MODELS = {
    "REF": REF(alpha=0.05),
    "CreasedREF": CreasedREF(alpha=0.05, n_creases=16, n_init=1000),
    "Detector": Detector(alpha=0.05),
    "Detector, ref": Detector(alpha=0.05, method="ref"),
}
HELD_OUT = 300  # one in ten


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param])


@pytest.fixture
def table(rng):
    X = rng.normal(size=(3000, 3)) @ rng.normal(size=(3, 3))
    X[rng.random(X.shape) < 0.02] = np.nan
    return pd.DataFrame(X, columns=["heat", "flow", "level"])


@pytest.fixture
def mixed(table, rng):
    machine = rng.choice(["A", "B", "C"], len(table))
    return table.assign(machine=machine, note=np.where(machine == "A", "ok", "late"))


def held_out(n):
    """Which rows are held out: those with the smallest numbers."""
    keys = draws(drawn._SEED, 0, n)
    return keys <= np.sort(keys)[HELD_OUT - 1]


def in_files(table, folder, size):
    folder.mkdir()
    for number, begin in enumerate(range(0, len(table), size)):
        part = pa.Table.from_pandas(table[begin : begin + size], preserve_index=False)
        pq.write_table(part, folder / f"{number:03}.parquet")
    return folder


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("kind", ["table", "mixed"])
def test_the_model_does_not_depend_on_the_parts(kind, model, request, tmp_path, monkeypatch):
    table = request.getfixturevalue(kind)
    if kind == "mixed" and not isinstance(model, Detector):
        pytest.skip("it takes numbers")
    whole = scale.learn(in_files(table, tmp_path / "1", 3000), clone(model))
    monkeypatch.setattr("refold.scale.blocks._MOST", 77)
    parts = scale.learn(in_files(table, tmp_path / "2", 411), clone(model))
    assert whole.calibration_.source == parts.calibration_.source == "held-out"
    assert whole.calibration_.total == parts.calibration_.total == HELD_OUT
    np.testing.assert_allclose(whole.calibration_.scores, parts.calibration_.scores, rtol=1e-8)
    np.testing.assert_allclose(whole.threshold_, parts.threshold_, rtol=1e-8)
    np.testing.assert_allclose(
        whole.score_samples(table[:500]), parts.score_samples(table[:500]), rtol=1e-8
    )


@pytest.mark.usefixtures("in_parts")
def test_ref_is_that_of_the_rows_that_are_not_held_out(table, tmp_path, assert_same_model):
    out = held_out(len(table))
    model = scale.learn(in_files(table, tmp_path / "a", 700), REF(alpha=0.05))
    expected = REF(engine="sketch", levels="all", max_gain=len(table) - HELD_OUT).fit(table[~out])
    expected.calibrate(table[out], alpha=0.05)
    assert_same_model(model, expected, table)
    np.testing.assert_allclose(model.threshold_, expected.threshold_)
    assert model.alpha_ == 0.05


@pytest.mark.usefixtures("in_parts")
def test_sums_of_creased_parts_are_those_of_all_other_rows(table, tmp_path):
    out = held_out(len(table))
    model = CreasedREF(n_creases=16, n_init=1000)
    scale.learn(in_files(table, tmp_path / "a", 700), model)
    phi = kernels.crease_features(model.creases_.map, table[~out].to_numpy(), 1)
    sums = model.sums_
    assert sums.weight == len(phi) == len(table) - HELD_OUT
    np.testing.assert_allclose(sums.total, phi.sum(axis=0), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(np.tril(sums.products()), np.tril(phi.T @ phi), rtol=1e-8, atol=1e-8)
    # The creases are made from the rows with the next smallest numbers.
    keys = draws(drawn._SEED, 0, len(table))
    first = np.sort(np.argsort(keys)[HELD_OUT : HELD_OUT + 1000])
    again = CreasedREF(n_creases=16, n_init=1000).fit(table.iloc[first])
    np.testing.assert_array_equal(model.creases_.directions, again.creases_.directions)
    np.testing.assert_allclose(
        -model.score_samples(table[out]).min(), model.calibration_.scores.max(), rtol=1e-8
    )


@pytest.mark.usefixtures("in_parts")
def test_a_detector_counts_all_other_rows(mixed, tmp_path):
    rest = mixed[~held_out(len(mixed))]
    model = scale.learn(in_files(mixed, tmp_path / "a", 700))
    assert [column.role for column in model.columns_] == [*["number"] * 3, *["category"] * 2]
    counts, expected = model.encoder_.counts, TableEncoder().fit(rest).counts
    assert counts.rows == len(rest)
    assert counts.others[3].values.counts == rest["machine"].value_counts().to_dict()
    np.testing.assert_array_equal(counts.numbers.states, expected.numbers.states)
    kept = model.kept_rows()
    assert kept.rows == len(rest)  # up to 10,000
    assert not np.isin(mixed["heat"][held_out(len(mixed))].dropna(), kept.columns[0].values).any()


def test_up_to_20_000_rows_are_learned_as_by_fit(model, table, tmp_path):
    source = in_files(table, tmp_path / "a", 999)
    learned, fitted = scale.learn(source, clone(model)), clone(model).fit(table)
    assert learned.calibration_.source == fitted.calibration_.source != "held-out"
    np.testing.assert_array_equal(learned.score_samples(table), fitted.score_samples(table))
    assert learned.threshold_ == fitted.threshold_
    assert learned.feature_names_in_.tolist() == [*table.columns]
    assert learned.noticed_ == fitted.noticed_


@pytest.mark.usefixtures("in_parts")
def test_models_of_parts_are_saved_and_travel(model, table, tmp_path):
    learned = scale.learn(in_files(table, tmp_path / "a", 700), model)
    refold.save(learned, tmp_path / "model.json")
    for again in (refold.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(learned))):
        np.testing.assert_array_equal(again.score_samples(table), learned.score_samples(table))
        assert (again.threshold_, again.alpha_) == (learned.threshold_, learned.alpha_)
        assert again.calibration_.source == "held-out"


def test_sums_travel_at_half_their_size(rng):
    X = rng.normal(size=(2000, 3))
    model = CreasedREF(n_creases=100).fit(X)
    sums = model.sums_
    again = pickle.loads(pickle.dumps(sums))
    assert len(pickle.dumps(sums)) < 0.6 * sums.gram.nbytes
    np.testing.assert_array_equal(np.tril(again.gram), np.tril(sums.gram))
    assert again.gram.flags.f_contiguous
    np.testing.assert_array_equal(again.plus(sums).total, 2 * sums.total)


@pytest.mark.usefixtures("in_parts")
def test_a_rate_is_kept_on_average(tmp_path, rng):
    """A new row is rejected with a probability of at most alpha: over many tables."""
    rejected = []
    for number in range(60):
        X = pd.DataFrame(rng.standard_t(3, size=(1700, 2)), columns=["a", "b"])
        source = in_files(X[:700], tmp_path / str(number), 700)
        model = scale.learn(source, REF(alpha=0.1))
        assert model.calibration_.total == 70
        rejected.append(np.mean(model.predict(X[700:]) == -1))
    error = np.std(rejected) / np.sqrt(len(rejected))
    assert 0.1 - 3 * error - 1 / 71 < np.mean(rejected) < 0.1 + 2 * error


@pytest.mark.usefixtures("in_parts")
def test_a_rate_that_needs_more_rows_is_refused(table, tmp_path):
    source = in_files(table, tmp_path / "a", 3000)
    with pytest.raises(ValueError, match=r"alpha=0\.001 needs at least 4,000 rows.* there are 3,0"):
        scale.learn(source, REF(alpha=0.001))
    model = scale.learn(source, REF(alpha=0.002))
    assert model.calibration_.total == 1000  # two for each that may be rejected


@pytest.mark.usefixtures("in_parts")
def test_a_failure_leaves_the_model_as_it_was(model, table, tmp_path):
    source = in_files(table, tmp_path / "a", 700)
    scale.learn(source, model)
    before, state = model.score_samples(table), dict(vars(model))
    table.loc[2345, "flow"] = np.inf
    source = in_files(table, tmp_path / "b", 700)
    with pytest.raises(InputError, match=r"003\.parquet.*row 246, column 'flow'"):
        scale.learn(source, model)
    assert vars(model).keys() == state.keys()
    np.testing.assert_array_equal(model.score_samples(table[:2000]), before[:2000])


@pytest.mark.usefixtures("in_parts")
def test_files_that_change_meanwhile_are_noticed(table, tmp_path, monkeypatch):
    source = in_files(table, tmp_path / "a", 700)
    frozen = refold.models.parts.learner.CreasedLearner.frozen

    def meanwhile(*arguments):
        pq.write_table(pa.Table.from_pandas(table[:3]), source / "000.parquet")
        return frozen(*arguments)

    monkeypatch.setattr("refold.models.parts.learner.CreasedLearner.frozen", meanwhile)
    with pytest.raises(InputError, match=r"3,000 rows at first and then 2,303: files must not"):
        scale.learn(source, CreasedREF(n_creases=8))


def test_marks_of_numbers_are_read_as_by_the_command_line(tmp_path):
    """Thousands and decimal commas; the columns are of any kind."""
    rows = [f"{'AB'[k % 2]};1.0{k % 70 + 10},{k % 9}" for k in range(300)]
    (tmp_path / "a.csv").write_text("\n".join(["machine;torque", *rows]))
    frame = pd.DataFrame(
        {"machine": ["AB"[k % 2] for k in range(300)]}
        | {"torque": [1000 + k % 70 + 10 + (k % 9) / 10 for k in range(300)]}
    )
    model, expected = scale.learn(tmp_path / "a.csv"), Detector().fit(frame)
    assert [column.role for column in model.columns_] == ["category", "number"]
    distances = -expected.score_samples(frame)
    np.testing.assert_allclose(-model.score_samples(frame), distances)
    with pytest.raises(InputError, match=r"line 2, column 'torque': '1\.010,0' is not written as"):
        scale.score(expected, tmp_path / "a.csv").read_all()
    scored = scale.score(expected, tmp_path / "a.csv", reading={"decimal": ","}).read_all()
    np.testing.assert_array_equal(scored["distance"], distances)


def test_columns_are_chosen_and_ignored(mixed, tmp_path):
    source = in_files(mixed, tmp_path / "a", 700)
    model = scale.learn(source, Detector(roles={"note": "ignore"}), columns=["note", "heat"])
    assert [(c.name, c.role) for c in model.columns_] == [("note", "ignore"), ("heat", "number")]
    with pytest.raises(InputError, match="there is no column 'cold'"):
        scale.learn(source, columns=["cold"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clean-flights.csv.gz", "clean-taxis.csv.gz"])
def test_real_tables_keep_their_rate(name, tmp_path, monkeypatch):
    """Half of a table is learned in parts; of the other half about alpha is rejected."""
    monkeypatch.setattr("refold.models.parts.learner.HELD_OUT", 1000)
    table = pd.read_csv(real_table(name))
    table = table.drop(columns="row_is", errors="ignore").sample(frac=1.0, random_state=0)
    half = len(table) // 2
    table[:half].to_csv(tmp_path / "a.csv", index=False)
    model = scale.learn(tmp_path / "a.csv", Detector(alpha=0.05, method="ref"))
    assert model.calibration_.source == "held-out"
    assert np.mean(model.predict(table[half:]) == -1) < 0.05 + 4 * np.sqrt(0.05 / 400)
