"""Columns of Table III: ours on the author's tasks, and as the paper prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from refold.studies.paper import printed as paper
from refold.studies.paper.printed import Gmean
from tests.conftest import gmean


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Keep BLAS to one thread: on matrices this small, busy cores make more of them far slower."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def cell(paper_tasks: dict[Any, Any]) -> Callable[[Callable[[], Any], str], Gmean]:
    """Give the cell that a method makes of a task."""

    def run(make: Callable[[], Any], task: str) -> Gmean:
        gmeans = [
            gmean(make().fit(train).predict(test), is_target)
            for (name, _), (train, test, is_target) in paper_tasks.items()
            if name == task
        ]
        return Gmean(float(np.mean(gmeans)), float(np.std(gmeans, ddof=1)))

    return run


@pytest.fixture(scope="session")
def column(cell: Callable[..., Gmean]) -> Callable[[Callable[[], Any]], dict[str, Gmean]]:
    """Give the column of Table III that a method makes."""
    return lambda make: {task: cell(make, task) for task in paper.tasks()}


@pytest.fixture(scope="session")
def printed() -> Callable[[str], dict[str, Gmean]]:
    """Give a column of Table III, default setting, as the paper prints it."""
    return lambda method: {
        task: paper.cells(3)[paper.Key("default", (method,), task)] for task in paper.tasks()
    }
