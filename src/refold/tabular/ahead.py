"""Reading while the rows before are worked on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


def ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """Give the items in their order; the next one is made, in a thread, while this one is used.

    Examples
    --------
    >>> from refold.tabular import ahead
    >>> list(ahead(iter(["first", "second"])))
    ['first', 'second']
    """
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item


def made_ahead(
    items: Iterator[_Item], make: Callable[[_Item], _Made], threads: int
) -> Iterator[_Made]:
    """Give what is made of each item, in their order; the next ones are made meanwhile.

    One thread reads the items, so many others make something of them. An error comes when it is its
    turn, after all that was before it.
    """

    def made(reading: Future[_Item | None]) -> _Made | None:
        return None if (item := reading.result()) is None else make(item)

    reader, makers = ThreadPoolExecutor(1), ThreadPoolExecutor(threads)
    coming: deque[Future[_Made | None]] = deque()
    try:
        while True:
            while len(coming) <= threads:
                coming.append(makers.submit(made, reader.submit(next, items, None)))
            if (item := coming.popleft().result()) is None:
                return
            yield item
    finally:
        # Nobody waits: where garbage is collected, a lock may be held that ending threads need.
        makers.shutdown(wait=False, cancel_futures=True)
        reader.shutdown(wait=False, cancel_futures=True)
