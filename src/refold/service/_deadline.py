"""How long may be waited for something: one timer for all who wait."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any


class Deadline:
    """Lets nobody wait longer than so many seconds: ``with deadline:`` around what is awaited.

    As ``asyncio.timeout``, but all have the same time, so that whoever began first is due first and
    one timer is enough. One for each would take as long as to judge a row.

    Parameters
    ----------
    seconds : float
        The time for each; then it gets a TimeoutError.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due: dict[asyncio.Task[Any], float] = {}  # in the order of time
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # the timer of one that has ended never rings
            self._loop, self._timer, self._due = loop, None, {}
        self._due[_this_task()] = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_later(self._seconds, self._look, loop)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        task = _this_task()
        if self._due.pop(task, None) is None:  # it was due, and has been cancelled
            others = task.uncancel()
            if kind is asyncio.CancelledError and not others:
                raise TimeoutError from error

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel who is due, and look again when the next one is."""
        self._timer = None
        for task, due in list(self._due.items()):
            if due > loop.time():
                self._timer = loop.call_at(due, self._look, loop)
                return
            del self._due[task]
            task.cancel()


def _this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task
