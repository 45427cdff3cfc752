"""Waiting for what another process does: never for ever, and never for a number of seconds."""

import time

import psutil

LIMIT = 120.0  # seconds; generous, for both cores may be busy with something else


def wait_until(condition, *, running=None, limit=LIMIT):
    """Return the first true value of a condition, which is asked again and again.

    Fails when the process `running` ends before, or when the limit has passed.
    """
    until = time.monotonic() + limit
    while not (found := condition()):
        assert running is None or running.poll() is None, "the process ended before"
        assert time.monotonic() < until, f"not within {limit:g} seconds"
        time.sleep(0.01)
    return found


def processor_time(pid):
    """Return for how many seconds a process has been at work: it waits as little as we do."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system
