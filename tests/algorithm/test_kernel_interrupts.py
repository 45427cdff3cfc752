"""Ctrl-C ends a kernel at once and changes no model; threads do not disturb each other."""

import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from refold import REF
from refold.algorithm import kernels
from refold.algorithm.engines.sketch import Histogram
from tests.environment import default_signals
from tests.waiting import LIMIT, processor_time, wait_until

# Each would be busy for minutes, so that one that is not interrupted shows.
WORK = {
    "learning": "model.fit(X)",
    "learning one column": "REF(n_iter=10**7, max_gain=1e300, n_jobs=2).fit(X[:, :2])",
    "learning another fold": "REF(fold='tanh', n_iter=50_000, max_gain=1e300, n_jobs=2).fit(X)",
    "scoring": "small.score_samples(X)",
    "tracing": "[small.trace(X[:3000]) for _ in range(100)]",
    "sketching": "[Sketch.of(X, n_jobs=2) for _ in range(10000)]",
    "solving": "kernels.svdd(K, np.diagonal(K).astype(float), 1.0, 0.0, 2**62)",
}

SCRIPT = """
import sys, time
import numpy as np
from refold import REF
from refold.algorithm import kernels
from refold.algorithm.engines.sketch import Sketch
rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 10))
Z = rng.normal(size=(3000, 300)).astype(np.float32)
K = Z @ Z.T
model = REF(n_iter=20_000, max_gain=1e300, n_jobs=2).fit(X[:100])
small = REF(fold="tanh", n_iter=20_000, max_gain=1e300, n_jobs=2).fit(X[:100])
before = {**vars(model)}
for work in sys.stdin:
    print("ready", flush=True)
    try:
        exec(work)
        print("done", flush=True)
    except KeyboardInterrupt:
        same = vars(model).keys() == before.keys() and all(
            vars(model)[name] is value for name, value in before.items())
        print("interrupted", "unchanged" if same else "changed", flush=True)
"""


@pytest.fixture(scope="module")
def session():
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", SCRIPT]
    with default_signals():
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1)
    # Whoever does not answer is ended, so that nobody waits for ever.
    guard = threading.Timer(10 * LIMIT, process.kill)
    guard.start()
    with process:
        yield process
        guard.cancel()
        process.kill()


@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_is_answered_while_a_kernel_runs(work, session):
    session.stdin.write(WORK[work] + "\n")
    assert session.stdout.readline() == "ready\n"
    begun = processor_time(session.pid)
    wait_until(lambda: processor_time(session.pid) > begun + 0.1, running=session)
    session.send_signal(signal.SIGINT)
    assert session.stdout.readline() == "interrupted unchanged\n"


@pytest.mark.threads
def test_a_handler_that_does_not_raise_lets_the_work_go_on(rng):
    X, calls = rng.normal(size=(100_000, 4)), []
    slow = REF(n_jobs=2, n_iter=1000, max_gain=1e300)
    expected = slow.fit(X).chain_
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        again = slow.fit(X).chain_
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert calls
    np.testing.assert_array_equal(again.shifts, expected.shifts)


@pytest.mark.threads
def test_threads_may_add_to_one_tally_at_once(rng):
    parts = [rng.normal(size=20_000) * 10.0**k for k in range(8)]
    tally = kernels.SketchTally(256)

    def add(part):
        for values in np.array_split(part, 50):
            tally.add(values, first=0, column=0)
            tally.histogram()

    workers = [threading.Thread(target=add, args=(part,)) for part in parts]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    alone = kernels.SketchTally(256)
    alone.add(np.concatenate(parts), first=0, column=0)
    ours, theirs = (Histogram(*t.histogram()) for t in (tally, alone))
    np.testing.assert_array_equal(ours.bins, theirs.bins)
    np.testing.assert_array_equal(ours.counts, theirs.counts)
    np.testing.assert_allclose(ours.positions, theirs.positions, rtol=1e-9)


@pytest.mark.threads
def test_threads_learn_and_score_side_by_side(rng):
    X = rng.normal(size=(4000, 6))
    model, results = REF(n_jobs=3).fit(X), []
    scores = model.score_samples(X)

    def work():
        results.append((REF(n_jobs=3).fit(X).chain_.shifts, model.score_samples(X)))

    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 6
    for result in results:
        np.testing.assert_array_equal(result[0], model.chain_.shifts)
        np.testing.assert_array_equal(result[1], scores)
