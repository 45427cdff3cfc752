"""From cells to means, ranks and tests; what was not finished counts as lost."""

from __future__ import annotations

import numpy as np
import pytest

from refold.benchmark.benchmark import csv_of
from refold.benchmark.cells import Job
from refold.benchmark.protocol import MEASURES, Cell
from refold.benchmark.summary import summarize
from tests.benchmark.made import made


def test_means_are_over_seeds_and_then_sets():
    summary = made({"REF": [[0.8, 0.6], [0.9, 0.9]], "LOF": [[0.5, 0.5], [0.7, 0.8]]})
    np.testing.assert_allclose(summary.values["auroc"], [[0.7, 0.5], [0.9, 0.75]])
    assert summary.mean("auroc", "REF") == pytest.approx(0.8)
    assert summary.mean("auroc", "LOF") == pytest.approx(0.625)


def test_times_are_medians_over_seeds():
    seconds = iter([9.0, 0.1, 0.2])
    cells = {
        Job("wine", "REF", seed): Cell("done", {name: next(seconds)} | dict.fromkeys(MEASURES, t))
        for seed, (name, t) in enumerate(zip(["auroc"] * 3, [9.0, 0.1, 0.2], strict=True))
    }
    assert summarize(cells).mean("fit_seconds", "REF") == pytest.approx(0.2)
    assert summarize(cells).mean("auroc", "REF") == pytest.approx(3.1)


def test_an_unfinished_set_is_lost_but_not_in_the_mean():
    summary = made({"REF": [[0.4, 0.4], [0.9, 0.9]], "LOF": [[0.8, None], [0.7, 0.7]]})
    assert summary.n_finished("LOF") == 1
    assert summary.mean("auroc", "LOF") == pytest.approx(0.7)
    assert summary.unfinished("set0", "LOF") == "failed: ValueError: no"
    ranking = summary.ranking("auroc")
    assert (ranking.methods, ranking.ranks.tolist()) == (("REF", "LOF"), [1.0, 2.0])
    [comparison] = summary.comparisons("auroc", "REF")
    assert comparison.test[:3] == (2, 0, 0)


def test_methods_that_both_fail_share_the_worst_rank():
    summary = made({"REF": [[0.4], [0.4]], "LOF": [[None], [0.3]], "HBOS": [[None], [0.2]]})
    ranks = dict(zip(summary.ranking("gmean").methods, summary.ranking("gmean").ranks, strict=True))
    assert ranks == {"REF": 1.0, "LOF": 2.25, "HBOS": 2.75}


def test_a_failure_ranks_below_a_measure_of_zero():
    summary = made({"REF": [[None], [None]], "LOF": [[0.0], [0.0]]})
    assert summary.ranking("auroc").methods == ("LOF", "REF")


def test_a_method_that_finished_nothing():
    summary = made({"REF": [[None], [None]], "LOF": [[0.5], [0.5]]})
    assert np.isnan(summary.mean("auroc", "REF"))
    assert any(line.split()[:2] == ["REF", "–"] for line in summary.text())


@pytest.mark.parametrize(("sign", "verdict"), [(1, "better"), (-1, "worse")])
def test_significant_wins_and_losses_are_told(sign, verdict):
    rng = np.random.default_rng(0)
    lof = rng.uniform(0.4, 0.6, 20)
    ref = lof + sign * rng.uniform(0.01, 0.2, 20)
    summary = made({"REF": ref[:, None], "LOF": lof[:, None], "HBOS": lof[::-1, None]})
    comparisons = {found.other: found for found in summary.comparisons("auroc", "REF")}
    assert comparisons["LOF"].verdict == verdict
    assert comparisons["LOF"].p == pytest.approx(2 * 2 * 0.5**20)  # Holm: two tests


def test_no_ranking_of_one():
    assert made({"REF": [[0.5], [0.6]]}).ranking("auroc") is None
    assert made({"REF": [[0.5]], "LOF": [[0.4]]}).ranking("auroc") is None
    assert "–" in "".join(made({"REF": [[0.5], [0.6]]}).text())


def test_the_table_has_one_line_per_cell():
    summary = made({"REF": [[0.8, 0.6]], "LOF": [[0.5, None]]})
    lines = csv_of(summary.results).splitlines()
    assert lines[0].startswith("set,method,seed,outcome,auroc,auprc,gmean,false_alarms,")
    assert len(lines) == 5
    assert lines[1].startswith("set0,REF,0,done,0.8,")
    assert lines[4] == "set0,LOF,1,failed,,,,,,,ValueError: no"
