"""What is said of rows in a window: those of one time, and levels that wander."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

from refold.base.errors import UserError
from refold.columns.context import time_findings
from refold.columns.context.context import ContextColumns
from refold.columns.context.time_findings import notice_same_times, notice_stretches
from refold.columns.context.window import Window, WindowModel
from refold.columns.conversion import to_table
from refold.columns.encoding.plan import Plan

ROLES = {"machine": "category", "time": "date", "value": "number"}


def windowed(frame, by=("machine",), over=("time",)):
    plan, table = Plan.of(to_table(frame), {name: ROLES[name] for name in frame.columns})
    given = ContextColumns(by=by, over=over)
    return WindowModel.learn(Window(rows=5), given, plan.parse(table))


def rows_of(values, same=0):
    n = len(values)
    time = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n), "h")
    time = time.to_series(index=range(n))
    for k in range(same):
        time[10 * k + 3] = time[10 * k + 1]  # of the same machine
    return pd.DataFrame(
        {"machine": np.array(["A", "B"])[np.arange(n) % 2], "time": time, "value": values}
    )


@pytest.mark.parametrize("same", [0, 1, 4])
def test_a_few_rows_of_one_time_are_counted(same, rng):
    model, _, rows = windowed(rows_of(rng.normal(size=401), same))
    found = [str(each) for each in notice_same_times(model, rows)]
    if same:
        (said,) = found
        assert f"time: {same} of 401 rows have the same time and machine as another" in said
    else:
        assert found == []


def test_many_rows_of_one_time_are_refused_with_the_first_of_them(rng):
    with pytest.raises(UserError, match=r"5 of 401 rows have the same time and machine.*row 3\."):
        windowed(rows_of(rng.normal(size=401), 5))
    alone = rows_of(rng.normal(size=400)).drop(columns="machine")
    alone["time"] = alone["time"].to_numpy()[np.arange(400) // 2]
    with pytest.raises(UserError, match="add the column of the group to by="):
        windowed(alone, by=())


def wandering(rng, carried):
    values = rng.normal(size=600)
    for k in range(2, 600):  # each machine goes on by itself
        values[k] += carried * values[k - 2]
    return values


@pytest.mark.parametrize(("carried", "said"), [(0.0, False), (0.6, False), (0.97, True)])
def test_a_level_that_wanders_from_window_to_window_is_said(carried, said, rng):
    values = wandering(rng, carried)
    model, table, rows = windowed(rows_of(values))
    kept = np.flatnonzero(np.arange(600) % 50 != 7)
    found = list(notice_stretches(model, rows, table.take(kept), kept, [0.01, 0.05]))
    assert [each.kind for each in found] == ["wandering"] * said
    assert list(notice_stretches(model, rows, table.take(kept), kept, [])) == []
    pairs = [
        (row - 10, row)  # five rows of its machine before it
        for row in range(10, 600)
        if row % 50 != 7 and (row - 10) % 50 != 7
    ]
    ranks = rankdata(values[kept])
    place = {row: k for k, row in enumerate(kept.tolist())}
    x, y = np.array([[ranks[place[a]], ranks[place[b]]] for a, b in pairs]).T
    if said:
        assert f"(autocorrelation {np.corrcoef(x, y)[0, 1]:.2f})" in str(found[0])
        assert "from 1 % to 5 % between fifths" in str(found[0]).replace(".00", "").replace(
            "\u202f", " "
        )


@pytest.mark.parametrize(("step", "refused"), [(-1, True), (1, False), (0, False)])
def test_rows_that_run_backwards_by_a_date_nobody_named_are_refused(step, refused, rng):
    frame = rows_of(rng.normal(size=60))
    frame["time"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(step * np.arange(60), "h")
    if refused:
        with pytest.raises(UserError, match=r"Name the time: over=.time., or sort the rows"):
            windowed(frame, over=())
    else:
        windowed(frame, over=())


@pytest.mark.parametrize("turned", [False, True])
def test_each_row_is_compared_with_the_last_before_its_window(turned, rng, monkeypatch):
    order = np.arange(60)[:: -1 if turned else 1]
    model, table, rows = windowed(rows_of(rng.normal(size=60)).iloc[order])
    kept = np.flatnonzero(order != 7)
    compared = []

    def spy(learned, name, before, after):
        compared.extend(zip(order[kept[before]].tolist(), order[kept[after]].tolist(), strict=True))
        return 0.0

    monkeypatch.setattr(time_findings, "_alike", spy)
    assert list(notice_stretches(model, rows, table.take(kept), kept, [0.01, 0.05])) == []
    assert sorted(compared) == [(k - 10, k) for k in range(10, 60) if k not in (7, 17)]
