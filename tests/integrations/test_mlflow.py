"""A model goes through MLflow and comes back the same, with its reasons."""

import json
import os
import shutil
import sys
from unittest import mock

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # read by MLflow when it is imported

import mlflow
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import yaml
from mlflow.exceptions import MlflowException
from mlflow.models import infer_signature
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import refold.scale
from refold import REF
from refold.integrations.mlflow import load_model, log_model, save_model

pytestmark = pytest.mark.filterwarnings(
    "ignore:Operation with range is deprecated"  # MLflow, of its own use of pandas
)

NAMES = ["heat", "flow; DROP", "Ü 'x'", "speed"]


@pytest.fixture(autouse=True)
def tracking(tmp_path, monkeypatch):
    """Keep runs in a folder: a database would need what mlflow-skinny does not bring."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    with mock.patch.dict(os.environ):  # MLflow keeps the address there
        mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
        yield
        mlflow.set_tracking_uri(before)


@pytest.fixture(scope="module")
def normal():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(300, 4)) * [1, 10, 0.1, 3], columns=NAMES)
    frame.iloc[::9, 2] = np.nan
    return frame


@pytest.fixture(scope="module")
def new(normal):
    rows = normal.sample(60, random_state=0) * np.random.default_rng(2).uniform(0, 4, (60, 4))
    return rows.set_axis([f"row {k}" for k in range(60)])


@pytest.fixture(scope="module")
def model(normal):
    return REF(levels="all").fit(normal).calibrate(normal, alpha=0.1)


@pytest.fixture(scope="module")
def saved(model, normal, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "parts"
    save_model(model, path, input_example=normal.head())
    return path


def assert_same_model(again, model, rows):
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert again.threshold_ == model.threshold_
    for method in ("score_samples", "contributions", "predict", "p_values"):
        expected = getattr(model, method)(rows)
        np.testing.assert_array_equal(getattr(again, method)(rows), expected)


def test_a_logged_model_comes_back_the_same(model, normal, new):
    with mlflow.start_run() as run:
        info = log_model(
            model, "parts", input_example=normal.head(), registered_model_name="line 3"
        )
    by_run = f"runs:/{run.info.run_id}/parts"
    for uri in (info.model_uri, by_run, "models:/line 3/1"):
        assert_same_model(load_model(uri), model, new)
    assert set(info.flavors) == {"python_function", "refold"}
    assert info.signature.inputs.input_names() == NAMES
    judge = mlflow.pyfunc.load_model(info.model_uri)
    assert_same_model(judge.get_raw_model(), model, new)


def test_a_model_is_logged_without_a_run_or_an_example(model, new):
    info = log_model(model, "parts", tags={"line": 3}, params={"alpha": 0.1})
    assert info.signature is None
    assert info.tags["line"] == "3"
    assert info.params == {"alpha": "0.1"}
    assert_same_model(load_model(info.model_uri), model, new)


def test_the_stored_model_is_the_readable_file(saved, model, new):
    assert_same_model(refold.load(saved / "data" / "model.json"), model, new)
    held = [path.name for path in saved.rglob("*") if path.is_file()]
    assert not [name for name in held if name.endswith((".pkl", ".pickle", ".joblib"))]


def test_it_is_downloaded_where_the_user_says(saved, model, new, tmp_path):
    again = load_model(saved, dst_path=str(tmp_path / "here"))
    assert_same_model(again, model, new)
    assert list((tmp_path / "here").rglob("model.json"))


def test_served_answers_are_those_of_scored_files(saved, model, new, tmp_path):
    pa.parquet.write_table(
        pa.Table.from_pandas(new, preserve_index=False), tmp_path / "new.parquet"
    )
    refold.scale.score(model, tmp_path / "new.parquet", tmp_path / "scored.parquet")
    expected = pa.parquet.read_table(tmp_path / "scored.parquet").drop_columns(NAMES)
    answers = mlflow.pyfunc.load_model(str(saved)).predict(new)
    assert list(answers.columns) == [
        *("distance", "label", "p_value"),
        *("reason_1", "reason_2", "reason_3"),
    ]
    assert answers.index.equals(new.index)
    for name in expected.column_names:
        assert answers[name].tolist() == expected[name].to_pylist()


def test_served_answers_are_those_of_python(saved, model, new):
    answers = mlflow.pyfunc.load_model(str(saved)).predict(new)
    np.testing.assert_array_equal(answers["distance"], -model.score_samples(new))
    np.testing.assert_array_equal(answers["label"], model.predict(new))
    assert set(answers["label"]) == {1, -1}
    largest = [NAMES[k] for k in model.contributions(new).argmax(axis=1)]
    outlier = (model.predict(new) == -1).tolist()  # a normal row has no reason
    expected = [name if odd else None for name, odd in zip(largest, outlier, strict=True)]
    assert answers["reason_1"].tolist() == expected
    missing = new.iloc[:, 2].isna().to_numpy()  # three values: all are reasons, the fourth is not
    assert missing.any()
    assert not (answers.loc[missing] == NAMES[2]).any(axis=None)


def test_fewer_reasons_than_places_leave_none(tmp_path):
    model = REF().fit(pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3.0, 1.0, 2.0]}))
    save_model(model, tmp_path / "m")
    answers = mlflow.pyfunc.load_model(str(tmp_path / "m")).predict(
        pd.DataFrame({"a": [9], "b": [1]})
    )
    assert answers["reason_3"].tolist() == [None]
    assert json.loads(json.dumps(answers.to_dict("records")))[0]["reason_3"] is None


def test_columns_are_taken_by_name_and_others_left_aside(saved, new):
    judge = mlflow.pyfunc.load_model(str(saved))
    shuffled = new[NAMES[::-1]].assign(operator="Ann")
    pd.testing.assert_frame_equal(judge.predict(shuffled), judge.predict(new))


def test_without_a_signature_refold_itself_checks_the_columns(model, new, tmp_path):
    save_model(model, tmp_path / "m")
    judge = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    assert judge.metadata.signature is None
    pd.testing.assert_frame_equal(judge.predict(new[NAMES[::-1]]), judge.predict(new))
    with pytest.raises(ValueError, match="no column 'heat', 'speed'"):
        judge.predict(new.drop(columns=["heat", "speed"]))
    with pytest.raises(ValueError, match=r"'heat' holds .*, not numbers"):
        judge.predict(new.assign(heat="hot"))
    with pytest.raises(TypeError, match="pandas dataframe, a NumPy array or a dict"):
        judge.predict([[1.0, 2.0, 3.0, 4.0]])


def test_the_signature_is_enforced(saved, new):
    judge = mlflow.pyfunc.load_model(str(saved))
    assert judge.metadata.get_input_schema().input_names() == NAMES
    with pytest.raises(MlflowException, match="missing inputs"):
        judge.predict(new.drop(columns="heat"))
    with pytest.raises(MlflowException, match="Incompatible input types"):
        judge.predict(new.assign(heat="hot"))


def test_a_signature_of_the_user_s_own_is_kept(model, normal, new, tmp_path):
    signature = infer_signature(normal)
    save_model(model, tmp_path / "a", signature=signature)
    save_model(model, tmp_path / "b", signature=signature, input_example=normal.head())
    for name in "ab":
        judge = mlflow.pyfunc.load_model(str(tmp_path / name))
        assert judge.metadata.signature == signature
        assert len(judge.predict(new)) == len(new)
    save_model(model, tmp_path / "c", signature=False, input_example=normal.head())
    assert mlflow.pyfunc.load_model(str(tmp_path / "c")).metadata.signature is None


def test_the_output_schema_names_what_comes_out(saved, new):
    judge = mlflow.pyfunc.load_model(str(saved))
    assert judge.metadata.get_output_schema().input_names() == list(judge.predict(new).columns)


def test_the_example_is_stored_and_can_be_judged(saved, normal):
    judge = mlflow.pyfunc.load_model(str(saved))
    example = judge.input_example
    np.testing.assert_array_equal(example.to_numpy(), normal.head().to_numpy())
    np.testing.assert_array_equal(judge.predict(example), judge.predict(normal.head()))


def test_an_example_that_the_model_cannot_judge_is_refused(model, normal, tmp_path):
    with pytest.raises(ValueError, match="no column 'heat'"):
        save_model(model, tmp_path / "m", input_example=normal[NAMES[1:]])
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("rows", ["array", "frame"])
def test_a_model_without_names_takes_columns_by_position(rows, tmp_path, rng):
    X = rng.normal(size=(100, 3))
    model = REF(alpha=0.1).fit(X)
    save_model(model, tmp_path / "m", input_example=X[:2] if rows == "array" else None)
    judge = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    given, called = (X, "012") if rows == "array" else (pd.DataFrame(X, columns=[*"abc"]), "abc")
    answers = judge.predict(given)
    np.testing.assert_array_equal(answers["distance"], -model.score_samples(X))
    largest, labels = model.contributions(X).argmax(1), model.predict(X)
    expected = [called[k] if v == -1 else None for k, v in zip(largest, labels, strict=True)]
    assert answers["reason_1"].tolist() == expected


def test_no_rows_give_no_answers(saved, new):
    answers = mlflow.pyfunc.load_model(str(saved)).predict(new.iloc[:0])
    assert answers.shape == (0, 6)


def test_requirements_name_this_version_of_refold(saved):
    expected = f"refold[mlflow]=={refold.__version__}"
    assert expected in (saved / "requirements.txt").read_text().splitlines()
    (pip,) = (
        d
        for d in yaml.safe_load((saved / "conda.yaml").read_text())["dependencies"]
        if isinstance(d, dict)
    )
    assert expected in pip["pip"]


def test_requirements_of_the_user_s_own_are_kept(model, tmp_path):
    def lines(**options):
        shutil.rmtree(tmp_path / "m", ignore_errors=True)
        save_model(model, tmp_path / "m", **options)
        return {
            line.partition("=")[0]
            for line in (tmp_path / "m" / "requirements.txt").read_text().split()
        }

    (tmp_path / "more.txt").write_text("numpy\n")
    assert lines(extra_pip_requirements=["numpy"]) == {"mlflow", "refold[mlflow]", "numpy"}
    assert lines(extra_pip_requirements=str(tmp_path / "more.txt")) == {
        "mlflow",
        "refold[mlflow]",
        "numpy",
    }
    assert lines(pip_requirements=["numpy"]) == {"mlflow", "numpy"}
    env = {"name": "mine", "dependencies": ["python=3.12", {"pip": ["numpy", "mlflow"]}]}
    assert lines(conda_env=env) == {"numpy", "mlflow"}
    with pytest.raises(ValueError, match="Only one of"):
        lines(conda_env=env, pip_requirements=["numpy"])


def test_metadata_and_code_are_stored(model, tmp_path):
    code = tmp_path / "rules.py"
    code.write_text("limit = 3\n")
    save_model(model, tmp_path / "m", metadata={"line": "3"}, code_paths=[str(code)])
    assert mlflow.models.Model.load(str(tmp_path / "m")).metadata == {"line": "3"}
    assert (tmp_path / "m" / "code" / "rules.py").read_text() == "limit = 3\n"


def test_what_cannot_be_saved_leaves_nothing_behind(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save_model(REF(), tmp_path / "m")
    with pytest.raises(TypeError):
        save_model(object(), tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # MLflow's scandir
def test_a_folder_that_holds_something_is_not_overwritten(saved, model):
    before = (saved / "data" / "model.json").read_bytes()
    with pytest.raises(MlflowException, match="already exists and is not empty"):
        save_model(model, saved)
    assert (saved / "data" / "model.json").read_bytes() == before


def test_a_model_of_another_flavor_is_refused_by_name(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "m")
    described = mlflow.models.Model.load(str(tmp_path / "m"))
    del described.flavors["refold"]
    described.save(str(tmp_path / "m" / "MLmodel"))
    with pytest.raises(ValueError, match=r"not stored by refold.*python_function"):
        load_model(tmp_path / "m")


def test_a_changed_model_file_is_refused(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "m")
    file = tmp_path / "m" / "data" / "model.json"
    file.write_text(file.read_text().replace("heat", "head"))
    with pytest.raises(ValueError, match="sha256"):
        load_model(tmp_path / "m")
    with pytest.raises(ValueError, match="sha256"):
        mlflow.pyfunc.load_model(str(tmp_path / "m"))


def test_without_mlflow_the_error_says_what_to_install(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    for call in (
        lambda: save_model(model, tmp_path / "m"),
        lambda: log_model(model, "parts"),
        lambda: load_model(tmp_path),
    ):
        with pytest.raises(ImportError, match=r"mlflow is needed .* 'refold\[mlflow\]'"):
            call()


def test_a_creased_model_is_served_with_its_reasons(normal, new, tmp_path):
    model = refold.CreasedREF(n_creases=16).fit(normal)
    save_model(model, tmp_path / "creased")
    answers = mlflow.pyfunc.load_model(str(tmp_path / "creased")).predict(new)
    np.testing.assert_array_equal(answers["label"], model.predict(new))
    largest = model._reasons(new).drop.argmax(axis=1)
    rejected = answers["label"] == -1
    assert (answers["reason_1"][rejected] == np.array(NAMES)[largest][rejected]).all()


def mixed(rows, seed):
    """A table with a column of each kind; notes have gaps."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "machine": rng.choice(["A", "B", "C"], rows),
            "torque": rng.normal(75.0, 2.0, rows),
            "at": pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 10**7, rows), "s"),
            "day": [f"2025-03-{day:02d}" for day in rng.integers(1, 29, rows)],
            "tested": rng.choice([True, False], rows),
            "zip": rng.choice([12047, 10115, 80331, 50667], rows),
            "note": rng.choice(["ok", "repaired", None], rows),
        }
    )


@pytest.fixture(scope="module", params=["creased", "ref"])
def detector(request):
    return refold.Detector(method=request.param).fit(mixed(600, 0))


@pytest.fixture
def odd():
    rows = mixed(50, 1).set_axis([f"row {k}" for k in range(50)])
    rows.loc["row 3", "machine"] = "Z"
    rows.loc["row 5", "torque"] = 400.0
    return rows


def test_a_detector_is_served_as_it_judges(detector, odd, tmp_path):
    save_model(detector, tmp_path / "m")
    judge = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    answers = judge.predict(odd)
    np.testing.assert_array_equal(answers["label"], detector.predict(odd))
    np.testing.assert_array_equal(answers["distance"], -detector.score_samples(odd))
    np.testing.assert_array_equal(answers["p_value"], detector.p_values(odd))
    assert answers.index.equals(odd.index)
    assert answers["reason_1"]["row 3"] == "machine"
    assert answers["reason_1"]["row 5"] == "torque"
    again = load_model(tmp_path / "m")
    np.testing.assert_array_equal(again.score_samples(odd), detector.score_samples(odd))
    shuffled = odd[odd.columns[::-1]].assign(operator="Ann")
    pd.testing.assert_frame_equal(judge.predict(shuffled), answers)
    assert judge.predict(odd.iloc[:0]).shape == (0, 6)


def test_the_signature_of_a_detector_is_that_of_its_columns(detector, odd, tmp_path):
    save_model(detector, tmp_path / "m")
    judge = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    columns = judge.metadata.get_input_schema().inputs
    assert {column.name: str(column.type) for column in columns} == {
        "machine": "DataType.string",
        "torque": "DataType.double",
        "at": "DataType.datetime",
        "day": "DataType.string",
        "tested": "DataType.boolean",
        "zip": "Any",
        "note": "DataType.string",
    }
    assert [column.name for column in columns if not column.required] == ["note"]
    missing = judge.predict(odd.drop(columns="note"))
    pd.testing.assert_frame_equal(missing, judge.predict(odd.assign(note=None)))
    with pytest.raises(MlflowException, match="missing inputs"):
        judge.predict(odd.drop(columns="machine"))
    with pytest.raises(MlflowException, match="Incompatible input types"):
        judge.predict(odd.assign(torque="hot"))
    save_model(detector, tmp_path / "free", signature=False)
    free = mlflow.pyfunc.load_model(str(tmp_path / "free"))
    assert (free.predict(odd.assign(torque="hot"))["reason_1"] == "torque").mean() > 0.9
    with pytest.raises(ValueError, match="no column 'machine'"):
        free.predict(odd.drop(columns=["machine", "note"]))


def test_an_example_decides_the_types_of_a_detector_s_columns(detector, odd, tmp_path):
    example = odd.head().assign(zip=odd["zip"].head().astype(float))
    with mlflow.start_run():
        info = log_model(detector, "parts", input_example=example)
    kinds = {column.name: str(column.type) for column in info.signature.inputs.inputs}
    assert kinds["zip"] == "DataType.double"
    judge = mlflow.pyfunc.load_model(info.model_uri)
    answers = judge.predict(odd.assign(zip=odd["zip"].astype(float)))
    np.testing.assert_array_equal(answers["label"], detector.predict(odd))


def test_a_detector_without_names_takes_columns_by_position(tmp_path, rng):
    X = rng.normal(size=(100, 3))
    model = refold.Detector().fit(X)
    save_model(model, tmp_path / "m")
    judge = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    assert judge.metadata.signature is None
    np.testing.assert_array_equal(judge.predict(X)["distance"], -model.score_samples(X))


def test_a_pipeline_is_refused_in_words(normal, tmp_path):
    pipeline = make_pipeline(StandardScaler(), REF()).fit(normal)
    with pytest.raises(TypeError, match=r"not Pipeline.*skops"):
        save_model(pipeline, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_rows_are_judged_in_their_context(tmp_path):
    rng = np.random.default_rng(0)
    machine = rng.integers(0, 12, 900)
    table = pd.DataFrame(
        {
            "machine": machine,
            "when": pd.date_range("2026-01-01", periods=900, freq="h"),
            "heat": 30.0 * machine + rng.normal(size=900),
        }
    )
    model = refold.Detector(by="machine", over="when", alpha=0.02).fit(table[:800])
    save_model(model, tmp_path / "model")
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    new = table[800:].assign(machine=lambda t: t["machine"].where(t.index % 5 > 0, 3))
    found = loaded.predict(new)
    np.testing.assert_allclose(found["distance"], -model.score_samples(new), rtol=1e-9)
    assert set(found["label"]) == {-1, 1}
    with pytest.raises(ValueError, match="The input has no column 'machine'"):
        loaded.predict(new.drop(columns="machine"))
