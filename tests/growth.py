"""How time grows: a ratio, for how long a thing takes depends on the machine."""

import time

MOST = 9.0  # a busy machine adds to four; what is quadratic takes sixteen times as long


def seconds(work, given, runs):
    """The time of this process alone, best of some runs."""
    best = float("inf")
    for _ in range(runs):
        begin = time.process_time()
        work(given)
        best = min(best, time.process_time() - begin)
    return best


def assert_linear(work, of, size):
    """Compare a size with four times as much; more carefully if the machine seems busy."""
    small, large = of(size), of(4 * size)
    work(small)  # what is done once only is done
    ratios = []
    for runs in (1, 3, 3):
        ratios.append(seconds(work, large, runs) / seconds(work, small, runs))
        if ratios[-1] < MOST:
            return
    raise AssertionError(f"four times as much takes {ratios} times as long")
