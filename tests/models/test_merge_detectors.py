"""Whole, in chunks, at several sites: a Detector learns the same."""

import copy
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import refold
from refold import CreasedREF, Detector
from tests.tables import of_tables, real_table

TABLES = (
    "clean-flights.csv.gz",
    "clean-taxis.csv.gz",
    "natural-churn.csv.gz",
    "natural-hypothyroid.csv.gz",
    "natural-mushroom.csv.gz",
    "penguins.csv",
)
METHODS = ("creased", "ref")


def table_of(name, rows=2000):
    table = pd.read_csv(real_table(name))
    if "row_is" in table:
        table = table[table["row_is"] == "normal"].drop(columns="row_is")
    return table.sample(frac=1.0, random_state=0).reset_index(drop=True)[:rows]


def small(n, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"kind": rng.choice(["a", "b", "c"], n), "size": rng.normal(size=n)})


def counts_of(model):
    return model._learned.table.ready


def assert_same_counts(ours, theirs):
    assert (ours.rows, ours.plan.names) == (theirs.rows, theirs.plan.names)
    for k, mine in ours.others.items():
        other = theirs.others[k]
        if hasattr(mine, "values"):
            assert dict(mine.values.counts) == dict(other.values.counts)
            assert dict(mine.characters) == dict(other.characters)
        else:
            np.testing.assert_array_equal(mine.hours, other.hours)
            np.testing.assert_array_equal(mine.states, other.states)
            assert (mine.low, mine.high) == (other.low, other.high)
    for k, slices in ours.contingency_tables.items():
        np.testing.assert_array_equal(slices.counts, theirs.contingency_tables[k].counts)
    if ours.numbers is not None:
        np.testing.assert_array_equal(ours.numbers.states, theirs.numbers.states)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", of_tables(*TABLES))
def test_rows_in_chunks_give_what_all_rows_give(name, method):
    table = table_of(name)
    whole, chunked = Detector(method=method).fit(table), Detector(method=method)
    for begin in range(0, len(table), 300):
        chunked.partial_fit(table[begin : begin + 300])
    np.testing.assert_array_equal(chunked.score_samples(table), whole.score_samples(table))
    np.testing.assert_array_equal(chunked.predict(table), whole.predict(table))
    assert chunked.columns_ == whole.columns_


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", of_tables(*TABLES))
def test_models_of_several_sites_become_what_one_would_be(name, method):
    table = table_of(name)
    half, rest = len(table) // 2, len(table) * 3 // 4
    first = Detector(method=method).fit(table[:half])
    sites = [first.empty_like().partial_fit(table[half:rest])]
    sites.append(first.empty_like().partial_fit(table[rest:]))
    merged = refold.merge(first, *sites)
    alone = first.empty_like().partial_fit(table)
    assert_same_counts(counts_of(merged), counts_of(alone))
    np.testing.assert_array_equal(merged.predict(table), alone.predict(table))
    whole = Detector(method=method).fit(table)
    assert np.mean(merged.predict(table) == whole.predict(table)) >= 0.99
    assert np.mean(merged.predict(table) == -1) == pytest.approx(whole.alpha_, abs=0.02)


def test_more_rows_than_are_kept_give_the_rate_that_was_asked_for():
    first = Detector(alpha=0.05).fit(small(8_000))
    there = first.empty_like().partial_fit(small(9_000, 1)).partial_fit(small(3_000, 2))
    merged = refold.merge(first, there)
    assert (counts_of(merged).rows, merged._learned.sample.rows.rows) == (20_000, 10_000)
    assert np.mean(merged.predict(small(5_000, 3)) == -1) == pytest.approx(0.05, abs=0.02)


def test_the_order_of_sites_does_not_matter_to_counts():
    first = Detector(method="ref").fit(small(300))
    a, b = (first.empty_like().partial_fit(small(200, seed)) for seed in (1, 2))
    assert_same_counts(counts_of(refold.merge(first, a, b)), counts_of(refold.merge(b, first, a)))


def test_a_merged_model_goes_on_learning_and_leaves_the_others_alone():
    first = Detector().fit(small(300))
    there = first.empty_like().partial_fit(small(200, 1))
    before = first.score_samples(small(20, 5))
    merged = refold.merge(first, there).partial_fit(small(100, 2))
    assert counts_of(merged).rows == 600
    np.testing.assert_array_equal(first.score_samples(small(20, 5)), before)


class TestWhatCannotBeMerged:
    def refuse(self, match, *models):
        with pytest.raises(ValueError, match=match):
            refold.merge(*models)

    def test_models_that_have_decided_for_themselves(self):
        others = small(300, 1).assign(kind=np.random.default_rng(1).choice(["x", "y"], 300))
        match = r"0 and 1 take columns for different things: 'kind'.*empty_like"
        self.refuse(match, Detector().fit(small(300)), Detector().fit(others))

    def test_rows_that_wait(self):
        waiting = Detector().partial_fit(small(300))
        self.refuse("Model 1 has learned 300 of 10,000 rows", Detector().fit(small(300)), waiting)

    def test_other_parameters(self):
        ours = Detector().fit(small(300))
        theirs = ours.empty_like().set_params(method="ref").partial_fit(small(100))
        self.refuse("different parameters: method='auto' and 'ref'", ours, theirs)

    def test_another_kind(self):
        creased = CreasedREF().fit(small(300)[["size"]])
        self.refuse("different kinds: Detector and CreasedREF", Detector().fit(small(300)), creased)

    def test_a_plan_that_is_not_final_has_no_empty_copy(self):
        with pytest.raises(ValueError, match="not final yet: 300 of 10,000 rows"):
            Detector().partial_fit(small(300)).empty_like()


def test_copies_are_models_of_their_own():
    model = Detector().fit(small(300))
    expected = model.score_samples(small(20, 5))
    for other in (copy.copy(model), copy.deepcopy(model)):
        np.testing.assert_array_equal(other.score_samples(small(20, 5)), expected)
        other.partial_fit(small(100, 1))
        assert counts_of(other).rows == 400
    np.testing.assert_array_equal(model.score_samples(small(20, 5)), expected)
    assert not hasattr(clone(model), "_learned")


def test_threads_that_ask_first_all_get_the_same_judge():
    model = Detector().partial_fit(small(500))
    found, barrier = [], threading.Barrier(8)

    def ask():
        barrier.wait()
        found.append((model.model_, model.score_samples(small(20, 5))))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(judge) for judge, _ in found}) == 1
    for _, scores in found:
        np.testing.assert_array_equal(scores, found[0][1])
