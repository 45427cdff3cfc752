"""A context in a model file: what is written is read again, and every bound is exact."""

import copy
import json

import numpy as np
import pytest

from refold.columns.context.context import ContextColumns, ContextModel
from refold.columns.context.context_file import context_written, read_context
from refold.columns.context.window import Window, WindowModel
from refold.columns.table import DateColumn, NumberColumn, Table
from refold.modelfile.errors import ModelFileError
from refold.modelfile.fields import Field
from refold.modelfile.json_text import Budget
from refold.modelfile.layout import to_json
from tests.columns.tables import texts as as_column
from tests.modelfile.conftest import packed, put, unpacked

N = 160


def texts(*values):
    content = np.frombuffer("".join(values).encode(), np.uint8)
    return {"lengths": np.array([len(v.encode()) for v in values]), "utf8": content}


@pytest.fixture(scope="module")
def learned():
    rng, machine = np.random.default_rng(0), np.arange(N) % 4
    columns = {
        "site": as_column([f"S{k // 2}" for k in machine]),
        "machine": as_column([f"M{k}" for k in machine]),
        "at": DateColumn(1.7672256e9 + 3600.0 * np.arange(N), has_date=True, has_clock=True),
        "load": NumberColumn(rng.normal(size=N)),
        "product": as_column([f"P{(k + rng.integers(0, 2)) % 3}" for k in machine]),
        "y": NumberColumn(rng.normal(size=N) + machine),
    }
    given = ContextColumns(by=("site", "machine"), over=("at",), context=("load",))
    table = Table(list(columns), list(columns.values()), N)
    windows, table, _ = WindowModel.learn(Window(rows=5), given, table)
    return ContextModel.learn(given, table, windows)[0], table


@pytest.fixture(scope="module")
def written(learned):
    return unpacked(json.loads(to_json(context_written(learned[0]), Budget(10**9))))


def read(document):
    return read_context(Field(json.loads(json.dumps(packed(document))), "it", Budget(10**9)))


def test_a_context_that_was_written_scores_rows_to_the_bit(learned, written):
    model, table = learned
    again = read(written)
    rows = table.take(np.arange(0, N, 7))
    machines, loads = as_column(["M0", "M9"] * 11 + ["M1"]), NumberColumn(np.full(23, np.nan))
    for new in (rows, rows.with_columns({1: machines, 3: loads})):
        scored, expected = again.apply(new), model.apply(new)
        assert scored.names == expected.names
        for name, cells in expected.items():
            if isinstance(cells, NumberColumn):
                np.testing.assert_array_equal(scored[name].values, cells.values)
            else:
                np.testing.assert_array_equal(scored[name].in_group, cells.in_group)


def levels(number):
    return texts(*(json.dumps([f"S{k}"]) for k in range(number)))


Y, MOMENTS, VIEW = "columns.y", "columns.y.moments", "texts.product[0]"
# Of each place values at the bound, and beyond it.
BOUNDS = {
    "span[2]": ([0.5, 159.0 * 3600.0], [0.0, -1.0, 159.0 * 3600.0 + 1.0]),
    "by": ([], [["site", "site"], ["site", "at"], ["site"]]),
    "over": ([], [[], ["at", "load"]]),
    "span": ([], [None, [0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1e400, 1.0]]),
    "groups": ([], [texts('["S0"]'), texts("S0"), texts('{"S0": 1}'), texts('["S0", 1]')]),
    "features[0].of": ([levels(2)], [texts('["S0"]', '["S0"]'), levels(1_001)]),
    "features[1].knots": (
        [],
        [[], [1.0, 1.0], [2.0, 1.0], [float(k) for k in range(101)], ["a"]],
    ),
    "features[1].scale": ([1e-300], [0.0, -1.0, None]),
    "features[2].date": ([], [None, 1, "true"]),
    "features[3].trend": ([], [False, None]),
    "features": ([], [[], [{"trend": True}] * 2]),
    f"{Y}.log": ([True], [None, 0]),
    f"{Y}.scale": ([1e-300], [0.0, -1.0]),
    f"{Y}.form": ([], ["lines", None]),
    f"{Y}.ahead": ([[0.1], [1.0, 1.0]], [[], [0.0], [-1.0], [1.0, 0.9]]),
    f"{Y}.spread_coef[0]": ([300.0, -300.0], [300.1, -300.1]),
    f"{Y}.spread_coef": ([None], [np.zeros(3)]),
    f"{Y}.smallest": ([1e-300], [0.0]),
    f"{Y}.variance": ([1e-300], [0.0, -1.0]),
    f"{Y}.group_ridge": ([1e-300], [0.0]),
    f"{Y}.ridges[1]": ([0.0], [-1e-9]),
    f"{Y}.ridges": ([], [[], [1.0]]),
    f"{MOMENTS}.rows": ([0, 10**9], [-1, 0.5]),
    f"{MOMENTS}.group_rows[0]": ([0.0], [-1e-9]),
    f"{MOMENTS}.group_rows": ([], [np.ones(3), np.ones(5)]),
    f"{MOMENTS}.group_x.groups[0]": ([0, 3], [-1, 4]),
    f"{MOMENTS}.group_x.features[0]": ([0], [-1, 1_000]),
    f"{Y}.squares.weight[0]": ([0.0], [-1e-9]),
    f"{Y}.squares.squares[0]": ([0.0], [-1e-9]),
    f"{Y}.squares.mean[0]": ([-5.0], [np.inf]),
    f"{VIEW}.keys": ([], [np.array([0, 0, 1]), np.array([3, 2])]),
    f"{VIEW}.keys[0]": ([0], [-1]),
    f"{VIEW}.counts[0]": ([1], [0]),
    f"{VIEW}.labels": ([], [texts("P0", "P0", "P1")]),
    "texts.product": ([], [[]]),
    "window.rows": ([3, 10_000], [2, 10_001, None]),
    "window.seconds": ([], [60.0]),
    "window.columns.y: step.smallest": ([1e-300], [0.0]),
    "window.columns.y: step.measure": (["mean"], ["means"]),
}


@pytest.mark.parametrize("path", BOUNDS)
def test_what_is_beyond_a_bound_is_refused_and_what_is_at_it_is_not(path, written):
    allowed, refused = BOUNDS[path]
    for value in allowed:
        document = copy.deepcopy(written)
        put(document, path, value)
        read(document)
    for value in refused:
        document = copy.deepcopy(written)
        put(document, path, value)
        with pytest.raises(ModelFileError) as caught:
            read(document)
        assert caught.value.where.startswith("it")


def test_the_numbers_of_features_and_groups_have_a_last_one(written):
    document = copy.deepcopy(written)
    features = len(document["columns"]["y"]["reference"])
    for value, fits in ((features - 1, True), (features, False)):
        put(document, f"{MOMENTS}.group_x.features[0]", value)
        if fits:
            read(document)
        else:
            with pytest.raises(ModelFileError, match="features"):
                read(document)
    document = copy.deepcopy(written)
    view = document["texts"]["product"][0]
    last = 4 * (len(view["labels"]["lengths"]) + 2) - 1
    for value, fits in ((last, True), (last + 1, False)):
        put(document, f"{VIEW}.keys[{len(view['keys']) - 1}]", value)
        if fits:
            read(document)
        else:
            with pytest.raises(ModelFileError, match="keys"):
                read(document)


def test_a_window_is_rows_or_a_duration_with_a_time(written):
    document = copy.deepcopy(written)
    document["window"] |= {"rows": None, "seconds": 60.0}
    assert read(document).window.window.seconds == 60.0
    document["window"]["seconds"] = 0.0
    with pytest.raises(ModelFileError, match="seconds"):
        read(document)
    document["window"] = None
    assert read(document).window is None
