"""How time grows: a ratio, for how long a thing takes depends on the machine."""

import time

MOST = 9.0  # a busy machine adds to four; what is quadratic takes sixteen times as long


def seconds(work, given):
    """The time of this process alone, best of a few runs."""
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        work(given)
        best = min(best, time.process_time() - begin)
    return best


def assert_linear(work, of, size):
    """Compare a size with four times as much; once more if the machine was busy."""
    small, large = of(size), of(4 * size)
    work(small)  # what is done once only is done
    ratios = []
    while len(ratios) < 2:
        ratios.append(seconds(work, large) / seconds(work, small))
        if ratios[-1] < MOST:
            return
    raise AssertionError(f"four times as much takes {ratios} times as long")
