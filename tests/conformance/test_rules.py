"""Every kind of rule on every surface: the same rows are outliers, or it is said why not."""

import functools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from refold import Detector, RateWarning, load, save
from refold.base.errors import UserError
from refold.export import to_onnx, to_sql
from refold.scale import score
from refold.service import ModelStore, Settings, create
from tests.app.conftest import visitor_of  # noqa: F401
from tests.cli.conftest import refold  # noqa: F401
from tests.export.test_sql import DuckDB
from tests.export.test_sql_tables import judged


def table(n, seed):
    rng = np.random.default_rng(seed)
    pressure, weight = rng.normal(10.0, 1.0, n).round(2), rng.normal(2.0, 0.2, n).round(2)
    weight[::5] = np.nan  # usual, so that only a rule can object
    return pd.DataFrame(
        {
            "pressure": pressure,
            "weight": weight,
            "grade": rng.choice(["A", "B", "C"], n),
            "machine": rng.choice(["M1", "M2"], n),
            "day": pd.Series(pd.date_range("2026-01-01", periods=n)).dt.strftime("%Y-%m-%d"),
            "code": [f"AB{'-' if k % 9 else ''}{k:04d}" for k in rng.integers(0, 10_000, n)],
        }
    )


USUAL = {
    **{"pressure": 10.0, "weight": 2.0, "grade": "A", "machine": "M1"},
    **{"day": "2026-05-05", "code": "AB-1234"},
}
# Of each kind: rules, cells in which rows differ from the usual one, and what these rows are by the
# rules. Without, one of them at least is judged otherwise.
KINDS = {
    "direction": (
        {"pressure": {"direction": "high"}},
        [{"pressure": 1}, {"pressure": 30}],
        [1, -1],
    ),
    "min": ({"pressure": {"min": 9.5}}, [{"pressure": 9.4}, {"pressure": 9.6}], [-1, 1]),
    "max": ({"day": {"max": "2026-05-05"}}, [{"day": "2026-05-06"}, {}], [-1, 1]),
    "allowed": ({"grade": {"allowed": ["A", "B"]}}, [{"grade": "C"}, {"grade": "B"}], [-1, 1]),
    "format": ({"code": {"format": "AA-9999"}}, [{"code": "AB1234"}, {}], [-1, 1]),
    "required": ({"weight": {"required": True}}, [{"weight": None}, {}], [-1, 1]),
    "if": (
        {"weight": {"if": [{"when": {"machine": "M2"}, "max": 1.9}]}},
        [{"machine": "M2"}, {"machine": "M1"}],
        [-1, 1],
    ),
    "tolerance": ({"weight": {"tolerance": 5}}, [{"weight": 6.5}, {"weight": 30}], [1, -1]),
    "blame": ({"pressure": {"blame": False}}, [{"pressure": 90}, {}], [-1, 1]),
    "mute of a column": (
        {"pressure": {"mute": "machine = M2"}},
        [{"pressure": 90, "machine": "M2"}, {"pressure": 90}],
        [1, -1],
    ),
    "mute of rows": (
        {"mute": ["machine = M2 until 2999-12-31"]},
        [{"pressure": 90, "machine": "M2"}, {"pressure": 90}],
        [1, -1],
    ),
}
IN_SQL = {"direction", "min", "allowed", "required", "blame", "mute of rows"}


def new_rows(kind):
    return pd.DataFrame([{**USUAL, **cells} for cells in KINDS[kind][1]])


@functools.cache
def model_of(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RateWarning)  # some training rows violate the rules
        return Detector(method="ref", rules=KINDS[kind][0], n_jobs=1).fit(table(300, 0))


def by_python(kind, model, *_):
    return model.predict(new_rows(kind)).tolist()


def by_file(kind, model, folder, _):
    save(model, folder / "m.json")
    again = load(folder / "m.json")
    assert again.rules == json.loads(json.dumps(model.rules))
    return again.predict(new_rows(kind)).tolist()


def by_scored_file(kind, model, folder, _):
    new_rows(kind).to_csv(folder / "new.csv", index=False)
    score(model, folder / "new.csv", folder / "out.csv")
    return pd.read_csv(folder / "out.csv")["label"].tolist()


def by_command(kind, model, folder, request):
    run = request.getfixturevalue("refold")
    table(300, 0).to_csv(folder / "table.csv", index=False)
    new_rows(kind).to_csv(folder / "new.csv", index=False)
    (folder / "r.json").write_text(json.dumps(model.rules))
    arguments = ["fit", "table.csv", "-o", "m.json", "--rules", "r.json", "--method", "ref"]
    assert run(*arguments, cwd=folder).returncode == 0
    assert run("score", "m.json", "new.csv", "-o", "out.csv", cwd=folder).returncode == 0
    return pd.read_csv(folder / "out.csv")["label"].tolist()


def by_service(kind, model, folder, _):
    save(model, folder / "m.json")
    rows = [{**USUAL, **cells} for cells in KINDS[kind][1]]
    store = ModelStore({"m": folder / "m.json"})
    with TestClient(create(store, Settings(), lambda line: None)) as client:
        found = client.post("/v1/models/m/score", json=rows).json()["rows"]
    return [row["label"] for row in found]


def by_app(kind, model, folder, request):
    visitor = request.getfixturevalue("visitor_of")()
    visitor.put("/table", table(300, 0).to_csv(index=False).encode(), "table.csv")
    news = visitor.put("/rules", json.dumps(model.rules).encode(), "rules.json")
    assert not news.bad, news
    assert not visitor.post("/learn", method="ref").bad
    visitor.put("/check", new_rows(kind).to_csv(index=False).encode(), "new.csv")
    return visitor.state.checked.found.labels.tolist()


def by_sql(kind, model, *_):
    if kind in IN_SQL:
        with DuckDB() as database:
            return [row[0] for row in judged(database, model, new_rows(kind))]
    with pytest.raises(UserError, match=r"rules: .* cannot be written as SQL"):
        to_sql(model, "rows", "duckdb")
    return KINDS[kind][2]


def by_onnx(kind, model, *_):
    if kind == "blame":
        to_onnx(model, without=("shape", "character"))
    else:
        with pytest.raises(UserError, match="An ONNX graph does not take a model with rules that"):
            to_onnx(model)
    return KINDS[kind][2]


SURFACES = [by_python, by_file, by_scored_file, by_service, by_sql, by_onnx]
BY_COMMAND = ("format", "if", "tolerance", "mute of a column")  # others: tests/cli/test_rules.py
SLOW = [*((kind, by_app) for kind in KINDS), *((kind, by_command) for kind in BY_COMMAND)]


@pytest.mark.parametrize(
    ("kind", "surface"),
    [
        *((kind, surface) for kind in KINDS for surface in SURFACES),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in SLOW),
    ],
)
def test_a_rule_makes_the_same_outliers_everywhere(kind, surface, tmp_path, request):
    assert surface(kind, model_of(kind), tmp_path, request) == KINDS[kind][2]


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"blame"}))
def test_without_the_rule_some_of_these_rows_are_judged_otherwise(kind):
    plain = Detector(method="ref", n_jobs=1).fit(table(300, 0))
    assert plain.predict(new_rows(kind)).tolist() != KINDS[kind][2]
