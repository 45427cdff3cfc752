"""The nearest accepted value: accepted, and nothing nearer is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold import REF, CreasedREF, explain

COLUMNS = {
    "normal": lambda rng, n: rng.normal(75.0, 2.0, size=n),
    "two": lambda rng, n: rng.normal(size=n) + 8.0 * rng.integers(2, size=n),
    "counts": lambda rng, n: rng.poisson(3.0, size=n).astype(float),
    "skewed": lambda rng, n: rng.lognormal(size=n),
    "constant": lambda rng, n: np.full(n, 3.0),
    "tiny": lambda rng, n: 1e-9 * rng.uniform(size=n),
    "large": lambda rng, n: 1.7e9 + rng.uniform(0.0, 1e5, size=n),
}


SETTINGS = st.fixed_dictionaries(
    {
        "levels": st.sampled_from(["last", "all"]),
        "distance": st.sampled_from(["l1", "l2"]),
        "engine": st.sampled_from(["exact", "sketch", "reference"]),
        "threshold": st.sampled_from([1.0, 0.7, 2.5]),
    }
)


def rows_near_and_far(rng, train):
    """Return training rows, some of whose values are moved by some or many deviations."""
    scale = np.where(np.ptp(train, axis=0) > 0, train.std(axis=0), 0.01)
    rows = train[rng.integers(len(train), size=10)]
    rows = rows + scale * rng.normal(size=rows.shape) * rng.choice([0.0, 1.0, 8.0], rows.shape)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    rows[np.isnan(rows).all(axis=1)] = train[0]
    return rows


def put(row, j, values):
    rows = np.tile(row, (len(values), 1))
    rows[:, j] = values
    return rows


@settings(max_examples=15)  # each tries thousands of values; test_coherence has real tables
@given(
    SETTINGS,
    st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=5),
    st.integers(3, 300),
    st.integers(0, 2**32),
)
def test_it_is_accepted_and_no_value_nearer_is(how, kinds, n, seed):
    rng = np.random.default_rng(seed)
    train = np.column_stack([COLUMNS[kind](rng, n) for kind in kinds])
    model, rows = REF(**how).fit(train), rows_near_and_far(rng, train)
    box = model.summary_.box
    levels = [None] * len(kinds) if box is None else box.levels
    spread = np.ptp(model.summary_.quantiles, axis=0) + 1.0
    for explanation in explain(model, rows):
        row = rows[explanation.row]
        for reason in explanation.reasons:
            j = int(reason.feature.removeprefix("x"))
            assert reason.exact
            if np.isnan(row[j]):
                assert reason.accepted_at is None
            elif explanation.label == 1:
                assert reason.accepted_at == row[j]
            elif levels[j] is not None and len(levels[j]) > 1:
                good = levels[j][model.predict(put(row, j, levels[j])) == 1]
                nearest = np.abs(good - row[j]).min() if len(good) else None
                found = reason.accepted_at
                assert nearest == (None if found is None else abs(found - row[j]))
                assert found is None or found in good
            elif reason.accepted_at is None:
                everywhere = np.linspace(
                    model.summary_.low[j] - spread[j], model.summary_.high[j] + spread[j], 4001
                )
                # Many values are tried, not all: of a jagged map a needle's eye may be missed.
                assert (model.predict(put(row, j, everywhere)) == -1).mean() > 0.999
            else:
                way = reason.accepted_at - row[j]
                assert (model.predict(put(row, j, [reason.accepted_at])) == 1).all()
                # The border is rounded: in the last digits of a double, and in the reference
                # engine, which does not cancel inner scales, by as much as the gain allows.
                fuzz = 8 * np.spacing(np.abs(row[j]))
                if model.engine_ == "reference":
                    fuzz += 1e-8 * model.chain_.scales[0, j]
                nearer = np.linspace(0.0, 1.0 - 1e-9, 1001)
                nearer = nearer[np.abs(way) * (1.0 - nearer) > fuzz]
                both = np.concatenate([row[j] + way * nearer, row[j] - way * nearer])
                assert (model.predict(put(row, j, both)) == -1).all()


@pytest.mark.parametrize("value", [1e6, 1e30, -1e100, 1e300])
@pytest.mark.parametrize("levels", ["last", "all"])
def test_it_is_found_from_however_far_away(rng, value, levels):
    normal = rng.normal([75.0, 1.0], [2.0, 0.1], size=(400, 2))
    model = REF(levels=levels).fit(normal)
    (explanation,) = explain(model, [[value, 1.0]])
    at = explanation.reasons[0].accepted_at
    assert (model.predict([[at, 1.0]]) == 1).all()
    low, high = model.summary_.low[0], model.summary_.high[0]
    beyond = np.linspace(at, high + 20, 2001)[1:] if value > 0 else np.linspace(low - 20, at, 2001)
    assert (model.predict(put(np.array([0.0, 1.0]), 0, beyond[:-1])) == -1).all()


@pytest.mark.parametrize("fold", ["sqr", "cos-abs", "cos", "sin", "tanh"])
def test_other_folds_are_searched_and_say_so(rng, fold):
    normal = rng.normal(75.0, 2.0, size=(400, 1))
    model = REF(fold=fold, levels="all").fit(normal)
    (explanation,) = explain(model, [[140.0]])
    (reason,) = explanation.reasons
    assert not reason.exact
    if explanation.label == -1 and reason.accepted_at is not None:
        assert (model.predict([[reason.accepted_at]]) == 1).all()
        grid = np.linspace(140.0, reason.accepted_at, 500)[:-1]
        assert (model.predict(grid[:, None]) == -1).mean() > 0.99
        assert "normal from about" in explanation.text()


@pytest.mark.parametrize("make", [REF, CreasedREF])
def test_where_no_feature_can_do_it_alone_a_set_is_named_that_can(rng, make):
    model = make().fit(rng.normal(size=(300, 3)))
    (explanation,) = explain(model, [[50.0, 0.1, 40.0]])
    assert [reason.accepted_at for reason in explanation.reasons] == [None] * 3
    assert {cell.feature for cell in explanation.changes} == {"x0", "x2"}
    first, last = (c.value for c in sorted(explanation.changes, key=lambda cell: cell.feature))
    assert (model.predict([[first, 0.1, last]]) == 1).all()
    assert str(explanation).endswith(
        f"would be normal with {' and '.join(map(str, explanation.changes))}"
    )


def test_a_value_beyond_all_units_is_explained_without_a_warning(rng):
    model = REF().fit(1e-307 * rng.normal(size=(60, 2)))
    (explanation,) = explain(model, [[1.0, 0.0]])
    at = explanation.reasons[0].accepted_at
    assert explanation.label == -1
    assert at is not None
    assert (model.predict([[at, 0.0]]) == 1).all()
