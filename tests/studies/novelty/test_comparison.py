"""From cells to means, ranks and tests; what was not finished counts as lost."""

from __future__ import annotations

import numpy as np
import pytest

from refold.studies.novelty.comparison import NoveltyComparison
from refold.studies.novelty.measures import MEASURES
from tests.studies.novelty.made import made


def test_means_are_over_seeds_and_then_sets():
    found = made({"REF": [[0.8, 0.6], [0.9, 0.9]], "LOF": [[0.5, 0.5], [0.7, 0.8]]})
    np.testing.assert_allclose(found.values["auroc"], [[0.7, 0.5], [0.9, 0.75]])
    assert found.mean("auroc", "REF") == pytest.approx(0.8)
    assert found.mean("auroc", "LOF") == pytest.approx(0.625)


def test_times_are_medians_over_seeds():
    found = made({"REF": [[9.0, 0.1, 0.2]]})
    assert found.mean("fit_seconds", "REF") == pytest.approx(0.2)
    assert found.mean("auroc", "REF") == pytest.approx(3.1)


def test_an_unfinished_set_is_lost_but_not_in_the_mean():
    found = made({"REF": [[0.4, 0.4], [0.9, 0.9]], "LOF": [[0.8, None], [0.7, 0.7]]})
    assert found.n_finished("LOF") == 1
    assert found.mean("auroc", "LOF") == pytest.approx(0.7)
    assert found.unfinished("set0", "LOF") == "failed: ValueError: no"
    ranking = found.ranking("auroc")
    assert list(ranking.ranks.items()) == [("REF", 1.0), ("LOF", 2.0)]
    [pairing] = found.pairings("auroc", "REF")
    assert pairing.test[:3] == (2, 0, 0)


def test_methods_that_both_fail_share_the_worst_rank():
    found = made({"REF": [[0.4], [0.4]], "LOF": [[None], [0.3]], "HBOS": [[None], [0.2]]})
    assert found.ranking("gmean").ranks == {"REF": 1.0, "LOF": 2.25, "HBOS": 2.75}


def test_a_failure_ranks_below_a_measure_of_zero():
    found = made({"REF": [[None], [None]], "LOF": [[0.0], [0.0]]})
    assert list(found.ranking("auroc").ranks) == ["LOF", "REF"]


def test_a_method_that_finished_nothing():
    found = made({"REF": [[None], [None]], "LOF": [[0.5], [0.5]]})
    assert np.isnan(found.mean("auroc", "REF"))
    assert any(line.split()[:2] == ["REF", "–"] for line in found.text())


@pytest.mark.parametrize(("sign", "standing"), [(1, "better"), (-1, "worse")])
def test_significant_wins_and_losses_are_told(sign, standing):
    rng = np.random.default_rng(0)
    lof = rng.uniform(0.4, 0.6, 20)
    ref = lof + sign * rng.uniform(0.01, 0.2, 20)
    found = made({"REF": ref[:, None], "LOF": lof[:, None], "HBOS": lof[::-1, None]})
    pairings = {pairing.other: pairing for pairing in found.pairings("auroc", "REF")}
    assert pairings["LOF"].standing == standing
    assert pairings["LOF"].p == pytest.approx(2 * 2 * 0.5**20)  # Holm: two tests


def test_no_ranking_of_one():
    assert made({"REF": [[0.5], [0.6]]}).ranking("auroc") is None
    assert made({"REF": [[0.5]], "LOF": [[0.4]]}).ranking("auroc") is None
    assert "–" in "".join(made({"REF": [[0.5], [0.6]]}).text())


def test_the_table_has_one_line_per_cell():
    found = made({"REF": [[0.8, 0.6]], "LOF": [[0.5, None]]})
    lines = found.csv().splitlines()
    assert lines[0].startswith("set,method,seed,outcome,auroc,auprc,gmean,false_alarms,")
    assert len(lines) == 5
    assert lines[1].startswith("set0,REF,0,done,0.8,")
    assert lines[4] == "set0,LOF,1,failed" + "," * (len(MEASURES) + 1) + "ValueError: no"


def test_the_largest_losses_come_first():
    found = made({"REF": [[0.5], [0.9], [0.2]], "LOF": [[0.6], [0.8], [0.7]]})
    losses = found.largest_losses("auroc", "REF")
    assert [tuple(loss) for loss in losses] == [
        ("set2", 0.2, "LOF", 0.7),
        ("set0", 0.5, "LOF", 0.6),
    ]
    assert "  set2: 20.0, LOF has 70.0" in found.text()
    assert any("1–0–2, p=" in line for line in found.text())


def test_wins_and_medians_and_parts():
    found = made({"REF": [[0.5], [0.9], [0.2]], "LOF": [[0.6], [0.9], [None]]})
    assert [found.wins("auroc", name) for name in ("REF", "LOF")] == [2, 2]
    assert found.median("auroc", "REF") == pytest.approx(0.5)
    assert found.median("auroc", "LOF") == pytest.approx(0.75)
    part = found.of_sets(["set0", "set2"])
    assert part.sets == ["set0", "set2"]
    assert part.mean("auroc", "REF") == pytest.approx(0.35)


def test_a_set_that_nobody_finished_is_no_win():
    found = made({"REF": [[None], [0.4]], "LOF": [[None], [0.3]]})
    assert [found.wins("auroc", name) for name in ("REF", "LOF")] == [1, 0]


def test_seeds_may_be_fewer_where_they_make_no_difference():
    results = dict(made({"REF": [[0.5, 0.7]], "LOF": [[0.6, 0.8]]}).results)
    del results[("set0", "LOF", 1)]
    found = NoveltyComparison(results)
    assert found.mean("auroc", "REF") == pytest.approx(0.6)
    assert found.mean("auroc", "LOF") == pytest.approx(0.6)
    assert found.n_finished("LOF") == 1
