"""Which columns are blamed, of rows that were made so that somebody can say it beforehand."""

import numpy as np
import pandas as pd
import pytest

from refold import REF, CreasedREF, Detector
from refold.judgement import Judgement
from refold.judgement.blame import near_expected

METHODS = ("creased", "ref")


@pytest.fixture(scope="module")
def table():
    """A size that its kind decides, few of a third kind, and what has nothing to do with them."""
    rng = np.random.default_rng(0)
    kind = rng.choice(["small", "large"], 800)
    size = np.where(kind == "small", 10.0, 40.0) + rng.normal(0.0, 0.5, 800)
    colour = rng.choice(["red", "blue"], 800)
    return pd.DataFrame(
        {"kind": kind, "size": size, "colour": colour, "weight": rng.normal(size=800)}
    )


@pytest.fixture(scope="module", params=METHODS)
def model(request, table):
    return Detector(method=request.param, n_jobs=1).fit(table)


USUAL = {"kind": "small", "size": 10.0, "colour": "red", "weight": 0.1}


def shares(model, **odd):
    found = Judgement.of(model, pd.DataFrame([USUAL | odd]))
    assert found.labels[0] == -1
    assert (found.shares >= 0.0).all()
    return dict(zip(found.names, found.shares[0].tolist(), strict=True))


@pytest.mark.parametrize(("column", "cell"), [("colour", "green"), ("weight", 99.0)])
def test_a_cell_that_alone_is_odd_has_nearly_all_of_the_blame(model, column, cell):
    assert shares(model, **{column: cell})[column] > 0.9


def test_cells_that_were_never_seen_have_what_no_other_cell_explains(model, table, rng):
    new = table.sample(300, replace=True, random_state=0, ignore_index=True)
    for name, odd in (("size", [25.0, 40.0]), ("weight", [9.0, np.nan]), ("kind", ["small"])):
        rows = rng.random(300) < 0.3
        new.loc[rows, name] = rng.choice(odd, rows.sum())
    new["colour"] = "green"
    found = Judgement.of(model, new)
    assert found.outlier.all()
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0, rtol=1e-9)


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_what_is_odd_beside_a_rare_category_is_blamed_on_the_category(method, seen, rng):
    """The usual size is surprising where kinds are rare; it is the kind that is odd."""
    kind = rng.choice(["small", "large"], 900).astype(object)
    rare = np.arange(900) % 15 == 0
    size = np.select([rare, kind == "small"], [70.0, 10.0], 40.0) + rng.normal(0.0, 0.5, 900)
    kind[rare] = [f"special {k // 2}" for k in range(rare.sum())]
    table = pd.DataFrame({"kind": kind, "size": size, "weight": rng.normal(size=900)})
    model = Detector(method=method, roles={"kind": "category"}, n_jobs=1).fit(table)
    odd = "special 3" if seen else "special 99"
    found = Judgement.of(model, [{"kind": odd, "size": 10.0, "weight": 0.0}])
    assert found.attribution().parts[0, 1] > 0.5
    of_kind, of_size, _ = found.shares[0] / found.shares[0].sum()
    assert of_kind > 0.9
    assert of_size < 0.05


def test_what_few_rows_are_as_far_out_as_is_expected_only_if_that_is_asked(rng):
    x = rng.normal(size=500)
    X = np.column_stack([x, x + 0.01 * rng.normal(size=500), rng.normal(size=500)])
    usual, top = 0.5, np.sort(x)[-2]
    rows = [[usual, usual, 0.0], [top, top, 0.0], [usual, -usual, 0.0], [top, -top, 0.0]]
    found = Judgement.of(CreasedREF(n_creases=32).fit(X), rows)
    assert near_expected(found, far_out=False)[:, 0].tolist() == [True, False, False, False]
    assert near_expected(found, far_out=True)[:, 0].tolist() == [True, True, False, False]


def test_numbers_as_expected_are_blamed_where_few_rows_are_as_far_out(rng):
    x = rng.normal(size=500)
    X = np.column_stack([x, x + 2e-4 * rng.normal(size=500), rng.normal(size=500)])
    far = np.sort(x)[-8]
    found = Judgement.of(CreasedREF(n_creases=32).fit(X), [[far, far - 0.05, 0.0]])
    assert found.outlier[0]
    assert near_expected(found, far_out=True)[0, :2].all()
    assert found.shares[0, :2].sum() > 0.5


@pytest.mark.parametrize("end", [-1.0, 1.0])
def test_far_out_a_number_may_differ_by_a_share_of_the_whole_range(end, rng):
    x = rng.normal(size=500)
    x[0] = -100.0 * end  # the other end is far away from all others
    X = np.column_stack([x, x + 0.01 * rng.normal(size=500), rng.normal(size=500)])
    found = Judgement.of(CreasedREF(n_creases=32).fit(X), [[end * 4.0, end * 2.5, 0.0]])
    off = np.abs(found.numbers - found.expected)[0, 0]
    assert 0.02 * np.ptp(x[1:]) < off < 0.02 * np.ptp(x)
    assert near_expected(found, far_out=True)[0, 0]
    assert not near_expected(found, far_out=False)[0, 0]


@pytest.mark.parametrize(
    ("model", "counts"), [(REF(alpha=0.01), 0.01), (CreasedREF(alpha=0.01, n_creases=16), 0.25)]
)
def test_of_a_value_that_many_rows_have_a_share_of_its_part_is_blamed(model, counts, rng):
    X = rng.normal(size=(400, 3))
    X[rng.random(400) < 0.3, 0] = 1.5
    found = Judgement.of(model.fit(X), X)
    parts, usual = found.attribution().parts, X[:, 0] == 1.5
    large = (parts[:, :2] > 1e-3 * found.distances[:, None]).all(axis=1) & ~found.outlier
    kept = (found.shares * found.distances[:, None])[large, :2] / parts[large, :2]
    assert 10 < usual[large].sum() < large.sum() - 10
    np.testing.assert_allclose(kept[:, 0], np.where(usual[large], counts, 1.0) * kept[:, 1])
    if found.judge.scorer.additive:
        np.testing.assert_allclose(kept[:, 1], 1.0)


@pytest.mark.parametrize("change", [lambda x: x + 1e6, lambda x: -x, lambda x: x * 1e-6])
def test_what_is_as_expected_depends_on_no_unit(change, rng):
    x = rng.normal(size=500)
    X = np.column_stack([x, x + 0.05 * rng.normal(size=500), rng.exponential(size=500)])
    new = rng.normal(size=(300, 3)) * [2.0, 2.0, 1.0]
    new[:150, 1] = new[:150, 0]
    near = [
        [
            near_expected(Judgement.of(CreasedREF(n_creases=16).fit(f(X)), f(new)), far_out=far)
            for far in (False, True)
        ]
        for f in (lambda x: x, change)
    ]
    assert np.mean(np.array(near[0]) != near[1]) < 0.02
    assert 0.1 < np.mean(near[0][0]) < 0.9


def test_numbers_far_out_together_are_blamed_though_each_is_as_the_other_lets_expect(rng):
    x = rng.normal(size=500)
    X = np.column_stack([x, x + 0.01 * rng.normal(size=500), rng.normal(size=500)])
    found = Judgement.of(CreasedREF(n_creases=32).fit(X), [[4.5, 4.5, 0.0]])
    assert found.labels[0] == -1
    assert found.shares[0, :2].sum() > 0.5
    assert (found.shares[0, :2] > 0.1).all()


def test_a_category_beside_a_number_far_outside_is_blamed_only_for_being_missing_or_new(table):
    """What goes with such a number nobody knows; which kinds there are is known all the same."""
    model = Detector(method="ref", n_jobs=1).fit(table)
    far, missing, new = (
        Judgement.of(model, [{**USUAL, "size": 1e3, "kind": kind}])
        for kind in ("small", None, "huge")
    )
    at = far.names.index("kind")
    assert far.attribution().parts[0, at] > 1.0
    assert far.shares[0, at] < 1e-3
    for found in (missing, new):
        assert found.shares[0, at] > 0.9 * found.attribution().parts[0, at] / found.distances[0]


def test_the_cell_that_contradicts_two_others_is_blamed(rng):
    kind = rng.choice(["small", "large"], 800)
    now_and_then = rng.random((2, 800)) < 0.04  # whatever goes with whatever has been seen
    size = np.where((kind == "small") ^ now_and_then[0], 10.0, 40.0) + rng.normal(0.0, 0.5, 800)
    colour = np.where((kind == "small") ^ now_and_then[1], "red", "blue")
    table = pd.DataFrame({"kind": kind, "size": size, "colour": colour})
    model = Detector(method="ref", n_jobs=1).fit(table.assign(weight=rng.normal(size=800)))
    model.threshold_ = 0.0  # whether they are outliers is another matter
    found = Judgement.of(model, [USUAL | each for each in ({"kind": "large"}, {"size": 40.0})])
    of = {name: found.shares[:, k] for k, name in enumerate(found.names)}
    assert of["kind"][0] > 0.9
    assert of["size"][1] > 0.3
    assert of["colour"][1] < 0.1


@pytest.mark.parametrize("beyond", [False, True])
def test_a_number_outside_its_range_keeps_its_blame_beside_a_rare_category(beyond, rng):
    kind = np.resize(["small", "large"], 900).astype(object)
    rare = np.arange(900) % 15 == 0
    size = np.select([rare, kind == "small"], [25.0, 10.0], 40.0) + rng.uniform(-0.5, 0.5, 900)
    kind[rare] = [f"special {k // 2}" for k in range(rare.sum())]
    table = pd.DataFrame({"kind": kind, "size": size})
    model = Detector(method="ref", roles={"kind": "category"}, n_jobs=1).fit(table)
    model.threshold_ = 0.0
    new = {"kind": "special 3", "size": size.max() + (0.1 if beyond else -0.01)}
    found = Judgement.of(model, [new])
    assert (found.shares[0, 1] > 0.2) == beyond


@pytest.mark.parametrize("known", [False, True])
def test_a_gap_where_there_never_was_one_keeps_its_blame_beside_a_rare_category(known, rng):
    """Two other columns have a gap in one row each: a gap alone makes no row an outlier then."""
    kind = np.resize(["small", "large"], 400).astype(object)
    rare = np.arange(400) % 15 == 0
    size = np.select([rare, kind == "small"], [25.0, 10.0], 40.0) + rng.uniform(-0.5, 0.5, 400)
    kind[rare] = [f"special {k // 2}" for k in range(rare.sum())]
    others = rng.normal(size=(2, 400))
    others[[0, 1], [3, 4]] = np.nan
    size[9] = np.nan if known else size[9]
    table = pd.DataFrame({"kind": kind, "size": size, "x": others[0], "y": others[1]})
    model = Detector(method="ref", roles={"kind": "category"}, n_jobs=1).fit(table)
    model.threshold_ = 0.0
    new = {"kind": "special 3", "size": None, "x": 0.0, "y": 0.0}
    found = Judgement.of(model, [new])
    at = found.names.index("size")
    part = found.attribution().parts[0, at] / found.distances[0]
    assert part > 0.7
    assert (found.shares[0, at] == pytest.approx(part)) == (not known)
    assert (found.shares[0, at] < found.shares[0, found.names.index("kind")]) == known
