"""A Detector that went through a file is the same model, whatever it has learned so far."""

import json
import re
import stat

import numpy as np
import pandas as pd
import pytest
from palmerpenguins import load_penguins

import refold
from refold import REF, Detector, ModelFileError
from refold.columns.encoding.encoding_file import MOST_READABLE
from refold.columns.encoding.value_counts import MOST_VALUES
from refold.modelfile.document import from_bytes, to_bytes
from refold.models.detector import detector_file
from refold.models.files import KINDS, check_columns
from tests.modelfile.conftest import packed, put, sealed, unpacked
from tests.tables import real_table

HOSTILE = ["'; drop table x", '"', "\\", "\0", "😀", "=1+1", "\u202e", "A" * 10**6, "\ud800", "\n"]


def mixed(n, seed=0):
    """A table with columns of every role, gaps, and what cannot be read."""
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 5 * 10**6, n), unit="s")
    machine = rng.choice(["A", "B", "C"], n)
    table = pd.DataFrame(
        {
            "serial": np.arange(n),
            "machine": machine,
            "shift": np.where(machine == "A", "early", rng.choice(["early", "late"], n)),
            "part": [f"P-{k:04d}" for k in rng.integers(0, 900, n)],
            "weight": [f"{w:.2f} kg" for w in rng.normal(5, 0.1, n)],
            "torque": rng.normal(75, 2, n),
            "made": days.strftime("%d.%m.%Y %H:%M"),
            "seen": days,
            "good": rng.random(n) < 0.9,
        }
    )
    table.loc[rng.random(n) < 0.05, "torque"] = np.nan
    table.loc[rng.random(n) < 0.05, "part"] = None
    table.loc[3, "weight"] = "<0.05"
    return table


def hostile(n):
    table = mixed(n)
    parts = [f"{HOSTILE[k % len(HOSTILE)]}{k % 30}" for k in range(n)]
    table["part"] = pd.Series(parts, dtype=object)  # as text they would have to be characters
    return table.rename(columns={"machine": "ma\0chi\"ne'; --", "torque": "=1+1 😀"})


MAKES = {
    "creased": lambda: Detector().fit(mixed(300)),
    "ref": lambda: Detector(method="ref").fit(mixed(300)),
    "numbers": lambda: Detector().fit(mixed(300)[["torque"]].to_numpy()),
    "numbers, ref": lambda: Detector(method="ref").fit(mixed(300)[["torque"]]),
    "texts alone": lambda: Detector(alpha=0.05).fit(mixed(300)[["machine", "part"]]),
    "objects": lambda: Detector(method="ref").fit(mixed(300)[["machine", "good"]].to_numpy()),
    "roles": lambda: Detector(roles={"torque": "category", "part": "ignore"}).fit(mixed(300)),
    "trimmed": lambda: Detector(trim=0.02).fit(mixed(300)),
    "calibrated": lambda: Detector().fit(mixed(300)).calibrate(mixed(200, 1), alpha=0.05),
    "waiting": lambda: Detector().partial_fit(mixed(150)).partial_fit(mixed(100, 1)),
    "went on": lambda: Detector().fit(mixed(300)).partial_fit(mixed(100, 1)),
    "records": lambda: Detector().fit(mixed(300).to_dict("records")),
    "hostile": lambda: Detector().fit(hostile(300)),
    "many rows": lambda: Detector(method="ref").fit(mixed(12_000)),
}


def table_for(model, n=80):
    """Rows that a model of any make takes, some of them odd."""
    names = list(getattr(model, "feature_names_in_", []))
    table = hostile(n) if "=1+1 😀" in names else mixed(n, 7)
    if model.n_features_in_ == 1:
        table = table[["torque"]].dropna()
        return table if names else table.to_numpy()
    if not names:
        return table[["machine", "good"]].to_numpy()
    odd = next(name for name in names if name in ("part", "torque"))
    table[odd] = table[odd].astype(object)
    table.loc[table.index[:4], odd] = ["never seen", "?1", "\ud800", "B" * 10**5]
    return table[names]


def through_file(model):
    return from_bytes(to_bytes(model, KINDS, "0"), KINDS)


def assert_same_answers(a, b, rows):
    for method in ("predict", "score_samples", "decision_function", "p_values"):
        ours, theirs = getattr(a, method)(rows), getattr(b, method)(rows)
        np.testing.assert_array_equal(ours, theirs, err_msg=method)
    ours, theirs = (one.scorer().attribution(one._learned.encoded(rows)[0]).parts for one in (a, b))
    np.testing.assert_array_equal(ours, theirs)
    assert (a.threshold_, a.alpha_, a.get_params()) == (b.threshold_, b.alpha_, b.get_params())
    assert (a.columns_, a.noticed_) == (b.columns_, b.noticed_)
    assert (a.summary_ is None) == (b.summary_ is None)
    if a.summary_ is not None:
        np.testing.assert_array_equal(a.summary_.quantiles, b.summary_.quantiles)


@pytest.mark.parametrize("make", MAKES)
def test_a_model_comes_back_with_every_bit_and_goes_on(make):
    model = MAKES[make]()
    loaded, rows = through_file(model), table_for(model)
    assert_same_answers(model, loaded, rows)
    np.testing.assert_array_equal(
        getattr(model, "dropped_", None), getattr(loaded, "dropped_", None)
    )
    for one in (model, loaded):
        one.partial_fit(rows)
    assert_same_answers(model, loaded, rows)


@pytest.mark.parametrize("make", MAKES)
def test_saving_again_gives_the_same_content(make):
    raw = [to_bytes(MAKES[make](), KINDS, "0")]
    raw.append(to_bytes(from_bytes(raw[0], KINDS), KINDS, "0"))
    documents = [json.loads(each) for each in raw]
    for document in documents:
        del document["created"], document["sha256"]
    assert json.dumps(documents[0]) == json.dumps(documents[1])


@pytest.mark.parametrize("name", ["clean-flights.csv.gz", "penguins.csv"])
@pytest.mark.parametrize("method", ["creased", "ref"])
def test_a_model_of_a_real_table_comes_back(name, method, tmp_path):
    table = pd.read_csv(real_table(name))
    model = Detector(method=method).fit(table[::2])
    model.save(tmp_path / "model.json")
    assert_same_answers(model, Detector.load(tmp_path / "model.json"), table)


def test_counts_by_value_can_be_read():
    document = json.loads(to_bytes(Detector().fit(mixed(300)), KINDS, "0"))
    columns = {column["name"]: column for column in document["table"]["columns"]}
    machines = mixed(300)["machine"].value_counts()
    written = columns["machine"]["counts"]["values"]["counts"]
    assert list(written.values()) == sorted(machines, reverse=True)
    assert written == machines.to_dict()
    hours = mixed(300)["seen"].dt.hour.value_counts()
    assert columns["seen"]["counts"]["hours"] == [int(hours.get(hour, 0)) for hour in range(24)]
    assert columns["weight"]["form"]["suffix"] == "kg"
    assert columns["weight"]["counts"]["states"] == [299, 0, 1]
    assert (columns["serial"]["role"], columns["serial"]["counts"]) == ("ignore", None)


def test_a_model_of_a_small_table_is_a_small_file():
    assert len(to_bytes(Detector().fit(load_penguins()), KINDS, "0")) < 300_000


def test_what_is_ignored_is_not_in_the_file():
    table = mixed(300).assign(secret=[f"person {k}" for k in range(300)])
    model = Detector(roles={"secret": "ignore"}).fit(table)
    assert b"person 17" not in to_bytes(model, KINDS, "0")


def test_the_file_is_for_its_owner(tmp_path):
    Detector().fit(mixed(50)).save(tmp_path / "model.json")
    assert stat.S_IMODE((tmp_path / "model.json").stat().st_mode) == 0o600


def test_the_file_of_another_kind_is_refused_by_name(tmp_path):
    refold.save(REF().fit([[1.0], [2.0]]), tmp_path / "model.json")
    with pytest.raises(ModelFileError, match=r"model\.json: estimator: This is a REF, no Detector"):
        Detector.load(tmp_path / "model.json")


def test_many_values_are_packed_and_come_back():
    n = MOST_VALUES + 500
    names, kinds = [f"é{k}-{k % 7}" for k in range(n)], ["a", "b"] * (n // 2)
    table = pd.DataFrame({"name": names, "kind": kinds})
    model = Detector(method="ref", roles={"name": "text"}).fit(table)
    loaded = through_file(model)
    ours, theirs = (one._learned.table.ready.others[0].values for one in (model, loaded))
    assert ours.level > 0
    assert dict(ours.counts) == theirs.counts
    assert_same_answers(model, loaded, table[:50])
    document = json.loads(to_bytes(model, KINDS, "0"))
    values = document["table"]["columns"][0]["counts"]["values"]
    assert len(values["counts"]) == MOST_READABLE
    assert set(values["rest"]["texts"]) == {"lengths", "utf8"}


@pytest.mark.parametrize("by", [None, "machine"])
def test_a_plan_without_rows_travels_to_another_site(by):
    here = Detector(by=by).fit(mixed(300))
    there = through_file(here.empty_like())
    with pytest.raises(ValueError, match="has not learned any rows yet: call partial_fit"):
        there.predict(mixed(5))
    assert_same_answers(
        refold.merge(here, there.partial_fit(mixed(200, 1))),
        refold.merge(here, here.empty_like().partial_fit(mixed(200, 1))),
        mixed(50, 2),
    )


def test_rows_wait_in_a_file_as_long_as_they_do_in_a_model(monkeypatch):
    written = to_bytes(Detector().partial_fit(mixed(60)), KINDS, "0")
    for decides in (61, 60):
        monkeypatch.setattr(detector_file, "N_INIT", decides)
        if decides == 61:
            assert from_bytes(written, KINDS)._learned.table.rows == 60
        else:
            with pytest.raises(ModelFileError, match="waiting"):
                from_bytes(written, KINDS)


def test_a_site_whose_column_is_empty_can_be_saved():
    here = Detector().fit(mixed(300))
    there = here.empty_like().partial_fit(mixed(100, 1).assign(torque=np.nan))
    assert_same_answers(
        refold.merge(here, through_file(there)), refold.merge(here, there), mixed(50, 2)
    )


def test_rates_that_were_set_come_back():
    loaded = through_file(MAKES["calibrated"]())
    assert (loaded.alpha_, loaded.calibration_.source) == (0.05, "held-out")
    assert loaded.partial_fit(mixed(50, 3)).alpha_ == pytest.approx(5 / 351)


def test_too_many_columns_are_refused_before_they_are_learned():
    check_columns(Detector(), 1000)
    with pytest.raises(ModelFileError, match="A Detector of 500,000 columns is too large"):
        check_columns(Detector(), 500_000)


def many(*texts):
    """Texts as they are written where they are many."""
    content = np.frombuffer("".join(texts).encode(), np.uint8)
    return {"lengths": np.array(list(map(len, texts))), "utf8": content}


WRONG = {
    "parameters.roles": [[], "number", {"machine": 3}, {"machine": None}],
    "threshold": [-1.0, None, "1", 1e301],
    "alpha": [0.0, 1.0, "0.1"],
    "dropped": [np.array([-1]), [0], {}],
    "table": [None, []],
    "table.rows": [-1, 2**60, 1.5, True],
    "table.columns": [{}, []],
    "table.columns[1].name": [3, None, "serial", "unknown", "x" * 3000],
    "table.columns[1].role": ["numbers", None, "ignore", "number", "date"],
    "table.columns[1].form": [{}, "iso"],
    "table.columns[4].form": [{"decimal": "."}, [], {"format": "iso"}],
    "table.columns[6].form": [
        {"format": "(a+)+$", "has_date": True, "has_clock": True},
        {"format": "%d" * 1000, "has_date": True, "has_clock": True},
        {"format": "iso", "has_date": 1, "has_clock": True},
    ],
    "table.columns[6].ranged": [None, 1, "true"],
    "table.columns[1].frequent": [["a", "a"], [1], [str(k) for k in range(47)]],
    "table.columns[5].edges": [[2.0, 1.0], [float("nan")], [float(k) for k in range(10)], ["1"]],
    "table.columns[1].partner": [-1, 8, 0, 1.0, True],
    "table.columns[1].noticed": [{}, [1]],
    "table.columns[1].counts": [None, [], {}],
    "table.columns[1].counts.values.rows": [299, -1, None],
    "table.columns[1].counts.values.missing": [1, -1, 301],
    "table.columns[1].counts.values.level": [-1, 65],
    "table.columns[1].counts.values.error": [-1, 10**30],
    "table.columns[1].counts.values.counts": [
        {"A": 301},
        {"A": 0},
        {"A": 1.0},
        {},
        [],
        {"A": None},
    ],
    "table.columns[1].counts.values.rest": [
        [],
        {"texts": many("A"), "counts": np.array([1])},
        {"texts": many("Q", "Q"), "counts": np.array([1, 1])},
        {"texts": many("Q"), "counts": np.array([0])},
        {"texts": many("Q"), "counts": np.array([1, 2])},
        {"texts": ["Q"], "counts": np.array([1])},
        {"texts": {**many("Q"), "lengths": np.array([2])}, "counts": np.array([1])},
        {"texts": {**many("QQ"), "lengths": np.array([1])}, "counts": np.array([1])},
        {"texts": {**many("Q"), "utf8": np.array([255], np.uint8)}, "counts": np.array([1])},
    ],
    "table.columns[1].counts.characters": [{"counts": {"AB": 1}, "rest": None}, {}],
    "table.columns[1].beside": [None, [[1]], np.zeros((48, 48), int), np.ones((1, 1), int)],
    "table.columns[5].counts.states": [[1, 2], [300, 0, 1], [-1, 301, 0], [299, 1, 0]],
    "table.columns[7].counts.hours": [[1] * 24, [0] * 24, [300]],
    "table.columns[7].counts.weekdays": [[300] * 7],
    "table.columns[7].counts.low": [None, 1e300, "1970"],
    "table.columns[7].counts.high": [-1e300, None],
    "table.columns[7].counts.has_clock": [None, 0],
    "table.columns[0].counts": [{}],
    "table.sketch": [None, {}],
    "table.sketch.rows": [0, 299],
    "table.sketch.weight": [0.0, 299.0],
    "waiting": [{"rows": 0, "guessed": True, "columns": []}],
    "sample": [None, {}],
    "sample.seed": [-1, 2**40],
    "sample.seen": [-1],
    "sample.keys": [None, [0.5], np.array([0.5])],
    "sample.keys[0]": [1.0, -0.5],
    "sample.rows": [None, {}],
    "sample.rows.rows": [10, 10**9],
    "sample.rows.guessed": [1],
    "sample.rows.columns[0].name": ["other", 1],
    "sample.rows.columns[0].codes[0]": [-2, 3, 0.5],
    "sample.rows.columns[0].texts": [many("A", "B"), many("A", "A", "B"), "A", ["A", "B", "C"]],
    "sample.rows.columns[4].numbers[0]": [np.inf],
    "sample.rows.columns[4].numbers": [None, {}, np.zeros(3)],
    "sample.rows.columns[6].has_date": ["yes"],
    "inside": [None, []],
    "inside.threshold": [-1.0, None, 1e301],
    "inside.calibration": [[], {}],
    "inside.model": [None, {}, []],
    "inside.model.estimator": ["Detector", "REF", None],
    "inside.model.n_features": [3],
    "inside.model.recipe.magnitudes": [0, 99],
    "inside.model.parameters.n_levels": [0],
}


@pytest.fixture(scope="module")
def document():
    return to_bytes(MAKES["creased"](), KINDS, "0")


@pytest.mark.parametrize(("path", "value"), [(p, v) for p, vs in WRONG.items() for v in vs])
def test_a_wrong_value_is_refused_near_its_place(path, value, document):
    document = unpacked(json.loads(document))
    before = json.dumps(packed(document))
    put(document, path, value)
    assert json.dumps(packed(document)) != before
    with pytest.raises(ModelFileError) as caught:
        from_bytes(sealed(document), KINDS)
    member = re.match("[a-z]+", caught.value.where)[0]
    assert member in (re.match("[a-z]+", path)[0], "threshold", "waiting")


@pytest.mark.parametrize("rows", [1, 9_999])
def test_rows_that_wait_are_checked(rows):
    document = json.loads(to_bytes(MAKES["waiting"](), KINDS, "0"))
    document["waiting"]["rows"] = rows
    with pytest.raises(ModelFileError, match="waiting"):
        from_bytes(sealed(document), KINDS)
