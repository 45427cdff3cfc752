"""Every room takes every model and says the same as the model itself, or refuses in words."""

import io
import json
import pickle
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import refold
from refold import drift, explain, plot, scale
from refold.export import to_onnx, to_sql
from refold.report import write_report
from tests.command import run_in_process
from tests.conformance.models import ACCEPTING, DISPLAYS, MODELS, refused

mpl.use("Agg")
NAMES = ["heat", "flow", "load"]


def normal_rows(rows, seed):
    rng = np.random.default_rng(seed)
    heat = rng.normal(70.0, 2.0, size=rows)
    table = [heat, 0.5 * heat + rng.normal(size=rows), rng.integers(1, 6, size=rows)]
    return pd.DataFrame(dict(zip(NAMES, table, strict=True))).astype(float)


@pytest.fixture(scope="module", params=[*MODELS, *(f"{name} + feedback" for name in ACCEPTING)])
def model(request):
    name, _, feedback = request.param.partition(" + ")
    model = MODELS[name]().fit(normal_rows(600, 0))
    if feedback:
        odd = normal_rows(2, 2).assign(heat=90.0, load=7.5)
        model.accept(odd).reject(normal_rows(1, 3))
    return model


@pytest.fixture
def new():
    """Normal rows; one with a high value, one with a gap, one without any value."""
    rows = normal_rows(200, 1)
    rows.loc[3, "flow"] = 400.0
    rows.loc[5, "load"] = np.nan
    rows.loc[9] = np.nan
    return rows


@pytest.fixture
def judged(model, new):
    """What the model itself says of the rows it can judge: labels, distances, by row.

    A Detector judges a row without any value; to REF and CreasedREF it has no distance.
    """
    known = new if isinstance(model, refold.Detector) else new.drop(index=9)
    return dict(
        zip(
            known.index,
            zip(model.predict(known), -model.score_samples(known), strict=True),
            strict=True,
        )
    )


def test_explain(model, new, judged):
    found = explain(model, new)
    assert {one.row: (one.label, one.distance) for one in found if one.label} == judged
    assert found[3].reasons[0].feature == "flow"
    assert len(found.to_frame()) == len(judged) * 3
    if 9 in judged:
        assert found[9].label == -1
        assert "no value in 3 of 3 columns" in str(found[9])
    else:
        assert found[9].label == 0
        assert found[9].reasons == ()
        assert "not judged" in str(found[9])


FACE = (
    *("fit", "partial_fit", "predict", "score_samples", "decision_function", "p_values", "explain"),
    *("save", "load", "merge", "calibrate", "tune_threshold", "accept", "reject", "undo_feedback"),
)


def test_what_a_model_does_not_have_it_says_why(model):
    for name in (name for name in FACE if not hasattr(model, name)):
        with pytest.raises(AttributeError) as said:
            getattr(model, name)
        assert "needs all rows in one fit" in str(said.value)


def test_methods_have_the_same_names_and_are_the_functions(model, new, tmp_path):
    assert [name for name in FACE if not callable(getattr(type(model), name, None))] == []
    assert str(model.explain(new)) == str(explain(model, new))
    model.save(tmp_path / "model.json")
    again = type(model).load(tmp_path / "model.json")
    known = new.drop(index=9)
    np.testing.assert_array_equal(again.score_samples(known), model.score_samples(known))
    other = refold.CreasedREF if isinstance(model, refold.REF) else refold.REF
    with pytest.raises(refold.ModelFileError, match=f"no {other.__name__}: use refold.load"):
        other.load(tmp_path / "model.json")


def test_merging_is_what_the_function_does_or_its_refusal(model):
    try:
        expected = refold.merge(model, model)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            model.merge(model)
        return
    rows = normal_rows(50, 4)
    np.testing.assert_array_equal(
        model.merge(model).score_samples(rows), expected.score_samples(rows)
    )


def test_limits(model, new, tmp_path):
    found = refold.limits(model, new)
    accepted = new.drop(index=9)[model.predict(new.drop(index=9)) == 1]
    for limit in found:
        seen = accepted[accepted[limit.feature].notna()]
        assert limit.rows == len(seen)
        for shift, share in ((limit.up_90, 0.9), (limit.up_50, 0.5), (-limit.down_90, 0.9)):
            moved = seen.assign(**{limit.feature: seen[limit.feature] + shift})
            # Around a row that was accepted far out lies what is accepted too.
            assert (model.predict(moved) == -1).mean() >= share - 0.02 * bool(model.feedback_)
    refold.save(model, tmp_path / "model.json")
    assert str(refold.limits(refold.load(tmp_path / "model.json"))) == str(refold.limits(model))


def test_drift(model, new, judged):
    found = drift(model, new)
    assert found.rejected == np.mean([label == -1 for label, _ in judged.values()])
    assert (found.rows, found.empty) == (200, 200 - len(judged))
    assert [feature.name for feature in found.features] == NAMES
    assert drift(model, new + 5.0).verdict == "changed"


def test_report(model, new, judged, tmp_path):
    found = write_report(model, new, tmp_path / "report.html")
    assert found.rejected == sum(label == -1 for label, _ in judged.values())
    worst = next(row for row in found.worst if row.name == "3")
    assert worst.distance == judged[3][1]
    assert worst.reasons[0].feature == "flow"
    assert "flow" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_model_and_itself_say_the_same(model, new, tmp_path):
    refold.save(model, tmp_path / "model.json")
    found = refold.compare(model, refold.load(tmp_path / "model.json"), new)
    assert found.n_changed == 0
    assert not found.differences


@pytest.mark.parametrize("display", DISPLAYS)
def test_plots_are_drawn_or_refused_in_words(model, new, display):
    make = getattr(plot, display).from_estimator
    arguments = {"FoldMapDisplay": ("flow",), "LevelsDisplay": (new.drop(index=9),)}
    arguments = arguments.get(display, (new,))
    if refused(model, display):
        with pytest.raises(TypeError, match=r"A (CreasedREF|Detector) has no .* Use a REF"):
            make(model, *arguments)
    else:
        make(model, *arguments).figure_.savefig(io.BytesIO())
    plt.close("all")


def test_files_are_scored(model, new, judged, tmp_path):
    pq.write_table(pa.Table.from_pandas(new[NAMES[::-1]]), tmp_path / "new.parquet")
    rows = scale.score(model, tmp_path / "new.parquet").read_all().to_pylist()
    answers = {i: (row["label"], row["distance"]) for i, row in enumerate(rows)}
    assert answers == {9: (None, None), **judged}
    assert rows[3]["reason_1"] == "flow"
    assert ("p_value" in rows[0]) == hasattr(model, "calibration_")


def test_dask_scores(model, new, judged):
    dataframe = pytest.importorskip("dask.dataframe")
    rows = scale.dask.score(model, dataframe.from_pandas(new, npartitions=3)).compute()
    known = rows.loc[list(judged)]
    answer = zip(known["label"], known["distance"], strict=True)
    assert dict(zip(known.index, answer, strict=True)) == judged
    assert 9 in judged or (rows["label"][9] == 0 and np.isnan(rows["distance"][9]))


def test_the_command_line_scores(model, new, judged, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    refold.save(model, "model.json")
    new.to_csv("new.csv", index=False)
    run_in_process(monkeypatch, "score", "model.json", "new.csv", "-o", "out.csv")
    rows = pd.read_csv("out.csv")
    known = rows.loc[list(judged)]
    answer = zip(known["label"], known["distance"], strict=True)
    assert dict(zip(known.index, answer, strict=True)) == judged
    assert 9 in judged or rows.loc[9, ["label", "distance"]].isna().all()
    assert rows.loc[3, "reason_1"] == "flow"
    capsys.readouterr()
    run_in_process(monkeypatch, "explain", "model.json", "new.csv", "--row", "4", "--json")
    assert json.loads(capsys.readouterr().out)["rows"][0]["distance"] == judged[3][1]


def test_onnx(model, new, judged):
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    label, distance = session.run(["label", "distance"], {"X": new.to_numpy()})
    full = [i for i in judged if i != 5]  # CreasedREF cannot fill a gap there
    assert label[full].tolist() == [judged[i][0] for i in full]
    np.testing.assert_allclose(distance[full], [judged[i][1] for i in full], rtol=1e-9)
    assert 9 in judged or (label[9] == 0 and np.isnan(distance[9]))


def test_sql_or_a_refusal_in_words(model, new, judged):
    duckdb = pytest.importorskip("duckdb")
    if refused(model, "to_sql"):
        with pytest.raises((TypeError, ValueError), match=r"CreasedREF|creased"):
            to_sql(model, "new", dialect="duckdb")
        return
    statement = to_sql(model, "new", dialect="duckdb")
    connection = duckdb.connect()
    connection.register("new", new.reset_index(names="id"))
    rows = connection.sql(statement).to_arrow_table().to_pylist()
    labels = {i: label for i, (label, _) in judged.items()}
    assert {row["id"]: row["label"] for row in rows} == {9: None, **labels}


def test_a_model_file_and_a_pickle_say_the_same(model, new, judged, tmp_path):
    refold.save(model, tmp_path / "model.json")
    for again in (refold.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        known = new.loc[list(judged)]
        assert (-again.score_samples(known)).tolist() == [
            distance for _, distance in judged.values()
        ]
        assert again.predict(known).tolist() == [label for label, _ in judged.values()]


def test_mlflow(model, new, judged, tmp_path):
    mlflow = pytest.importorskip("mlflow.pyfunc")
    from refold.integrations.mlflow import save_model

    save_model(model, tmp_path / "logged")
    rows = mlflow.load_model(str(tmp_path / "logged")).predict(new)
    known = rows.loc[list(judged)]
    answer = zip(known["label"], known["distance"], strict=True)
    assert dict(zip(known.index, answer, strict=True)) == judged
    assert 9 in judged or rows["label"][9] == 0
