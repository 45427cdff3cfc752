"""Nobody waits longer than allowed, and nobody is sent away who is in time."""

import asyncio

import pytest

from refold.service._deadline import Deadline


async def waited(deadline, seconds):
    try:
        with deadline:
            await asyncio.sleep(seconds)
    except TimeoutError:
        return "late"
    return "in time"


def test_only_those_who_are_late_are_sent_away():
    deadline = Deadline(0.2)

    async def all_of_them():
        early = [waited(deadline, seconds) for seconds in (0.0, 30.0, 0.05)]
        first = asyncio.gather(*early)
        await asyncio.sleep(0.1)
        later = asyncio.gather(waited(deadline, 0.15), waited(deadline, 30.0))
        return await first + await later

    said = asyncio.run(all_of_them())
    assert said == ["in time", "late", "in time", "in time", "late"]
    assert not deadline._due


def test_it_holds_in_a_second_loop_too():
    deadline = Deadline(0.05)
    assert asyncio.run(waited(deadline, 0.0)) == "in time"  # its timer has not rung
    assert asyncio.run(waited(deadline, 30.0)) == "late"


def test_who_is_stopped_by_others_is_not_late():
    deadline = Deadline(30.0)

    async def stopped():
        task = asyncio.ensure_future(waited(deadline, 30.0))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stopped())
    assert not deadline._due
