"""The default columns of the paper's Table III, on the author's splits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import OneClassSVM

from refold.peers import (
    SVDD,
    AutoassociativeKernelELM,
    NaiveParzen,
    NonlinearProjection,
    OneClassELM,
    OneClassKernelELM,
    ReferenceMapping,
    SubspaceSVDD,
)

EXACT = {
    "Linear SVDD": lambda: SVDD(C=0.1),
    "Linear OCSVM": lambda: OneClassSVM(kernel="linear", nu=0.1),
    "Non-linear OCSVM": lambda: OneClassSVM(kernel="rbf", gamma=0.01, nu=0.1),
    "OCKELM": OneClassKernelELM,
    "AAKELM": AutoassociativeKernelELM,
    "Naive Parzen": NaiveParzen,
}
SEEDED = {
    "SVDD+GRM": lambda seed: make_pipeline(ReferenceMapping(random_state=seed), SVDD()),
    "OCELM": lambda seed: OneClassELM(random_state=seed),
}
# A printed cell that few seeds give, method and task.
RARE = ("SVDD+GRM", "Seed2")
# Here the paper's figures are not those of a symmetric eigendecomposition.
RANK_DEFICIENT = {"Bank1", "Bank2", "Happ1", "Happ2"}

Column = Callable[[Callable[[], Any]], dict[str, Any]]
Printed = Callable[[str], dict[str, Any]]


def differing(ours: dict[str, Any], paper: dict[str, Any]) -> dict[str, Any]:
    """Give the tasks where mean or standard deviation is not the printed decimal."""
    return {
        task: (ours[task], paper[task])
        for task in paper
        if max(np.abs(np.subtract(ours[task], paper[task]))) > 0.05 + 1e-9
    }


@pytest.mark.parametrize("method", EXACT)
def test_default_column_is_the_printed_one(method: str, column: Column, printed: Printed) -> None:
    paper = printed(method)
    assert len(paper) == 14
    assert not differing(column(EXACT[method]), paper)


def test_nonlinear_svdd_is_the_printed_column_where_the_kernel_has_full_rank(
    column: Column, printed: Printed
) -> None:
    ours = column(lambda: make_pipeline(NonlinearProjection(), SVDD()))
    assert set(differing(ours, printed("Non-linear SVDD"))) == RANK_DEFICIENT
    means = [round(ours[task].mean, 1) for task in sorted(RANK_DEFICIENT)]
    assert means == [95.2, 85.9, 43.2, 47.9]


def test_subspace_svdd_is_the_printed_column_up_to_one_row(
    column: Column, printed: Printed
) -> None:
    """In one split of Iris3 two rows tie in the solver, and one test row changes sides.

    The tie falls as printed with a step 1 % longer or shorter.
    """
    paper = printed("SSVDD")

    def with_step(eta: float) -> dict[str, Any]:
        return column(lambda: make_pipeline(NonlinearProjection(), SubspaceSVDD(eta=eta)))

    ours = with_step(0.01)
    assert set(differing(ours, paper)) - {"Iris3"} == RANK_DEFICIENT
    assert abs(ours["Iris3"].mean - paper["Iris3"].mean) < 0.75
    assert set(differing(with_step(0.0101), paper)) == RANK_DEFICIENT
    # The step that the paper prints misses two more tasks.
    assert set(differing(with_step(0.1), paper)) >= {"Ion2", "Son2"}


@pytest.mark.parametrize("method", SEEDED)
def test_random_methods_are_within_seed_noise(
    method: str, column: Column, printed: Printed
) -> None:
    runs = []
    for seed in range(20):
        draws = np.random.RandomState(seed)  # one for all fits, so that each has its own draw
        runs.append(column(lambda draws=draws: SEEDED[method](draws)))
    for task, paper in printed(method).items():
        if (method, task) == RARE:
            continue
        means = [run[task].mean for run in runs]
        # Where all seeds agree, the printed decimal is still rounded.
        noise = np.hypot(np.std(means, ddof=1), 0.1 / np.sqrt(12.0))
        assert abs(paper.mean - np.mean(means)) <= 3.0 * noise, task


def test_the_rare_cell_of_a_random_method_does_occur(
    cell: Callable[..., Any], printed: Printed
) -> None:
    """Most seeds agree on SVDD+GRM in Seed2; the printed cell takes another label of one row.

    A mean and a standard deviation over seeds describe such a distribution badly.
    """
    method, task = RARE
    paper = printed(method)[task]
    draws = map(np.random.RandomState, range(50))
    cells = [cell(lambda draw=draw: SEEDED[method](draw), task) for draw in draws]
    differences = np.abs(np.subtract(cells, paper))
    assert (differences <= 0.05 + 1e-9).all(axis=1).any()
