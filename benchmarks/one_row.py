"""What one row takes, and small tables, in processor time: ``python -m benchmarks.one_row``.

One row by every kind of model, as an array, a dataframe and an object, with reasons and without;
learning of small tables, whose rows are left out by models made anew; two threads beside one.
"""

import time
import warnings

import numpy as np

from benchmarks.service import mixed_table
from refold import REF, CreasedREF, Detector

CALLS, ROUNDS = 50, 5


def least(work, clock=time.process_time, calls=CALLS):
    """Return the seconds of a call, in the round that was disturbed least."""
    work()
    rounds = []
    for _ in range(ROUNDS):
        begin = clock()
        for _ in range(calls):
            work()
        rounds.append((clock() - begin) / calls)
    return min(rounds)


def line(what, work, goal=None):
    wanted = "" if goal is None else f" (goal {goal:,})"
    print(f"{what:52s} {1e6 * least(work):8,.0f} µs{wanted}", flush=True)


def numbers():
    X = np.random.default_rng(0).normal(size=(3_000, 10))
    folded = REF(alpha=0.05).fit(X)
    line("REF, array", lambda: folded.predict(X[:1]))
    for creases, goal in ((256, 60), (512, 160)):
        model = CreasedREF(n_creases=creases).fit(X)
        line(f"CreasedREF, {creases} creases, array", lambda m=model: m.predict(X[:1]), goal)
    model = Detector().fit(X)
    line("Detector, array", lambda: model.predict(X[:1]))


def mixed():
    for rows in (150, 500, 2_000, 20_000):
        table = mixed_table(rows)
        model, one = Detector().fit(table), table[:1]
        odd = [{**one.to_dict("records")[0], "torque": 200.0}]
        name = f"Detector, {rows:,} × {table.shape[1]} mixed"
        line(f"{name}, frame", lambda m=model, r=one: m.predict(r), 800)
        line(f"{name}, object", lambda m=model, r=odd: m.predict(r), 800)
        line(f"{name}, frame, reasons", lambda m=model, r=one: m.explain(r), 2_500)
        line(f"{name}, object, reasons", lambda m=model, r=odd: m.explain(r), 2_500)


def small_tables():
    for rows, goal in ((60, None), (150, 80), (201, None), (500, None)):
        table = mixed_table(rows)
        took = 1e3 * least(lambda t=table: Detector().fit(t), calls=2)
        wanted = "" if goal is None else f" (goal {goal})"
        print(f"{f'Detector, learn {rows} × 5 mixed':52s} {took:8.0f} ms{wanted}", flush=True)


def two_threads():
    for rows in (1_000, 10_000, 50_000):
        X = np.random.default_rng(0).normal(size=(rows, 20))
        learn, score = [], []
        for n_jobs in (1, 2):
            model = CreasedREF(n_jobs=n_jobs)
            learn.append(least(lambda m=model, X=X: m.fit(X), time.perf_counter, 1))
            score.append(least(lambda m=model, X=X: m.score_samples(X), time.perf_counter, 1))
        name = f"CreasedREF, {rows:,} × 20, two threads over one"
        ratios = f"learn {learn[0] / learn[1]:.2f} ×, score {score[0] / score[1]:.2f} × (goal 1.7)"
        print(f"{name:52s} {ratios}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    numbers()
    mixed()
    small_tables()
    two_threads()
