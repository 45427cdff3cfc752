"""Sizes of model files, and what saving and loading take: ``python -m benchmarks.modelfile``."""

import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from palmerpenguins import load_penguins

import refold
from refold import REF, CreasedREF, Detector


def mixed(rows):
    """Numbers, a category, dates and identifiers."""
    rng = np.random.default_rng(0)
    seconds = pd.to_timedelta(rng.integers(0, 10**7, rows), unit="s")
    return pd.DataFrame(
        {
            "a": rng.normal(size=rows).round(3),
            "b": rng.lognormal(size=rows),
            "c": rng.choice(list("ABCDE"), rows),
            "d": pd.Timestamp("2024-01-01") + seconds,
            "e": [f"AB-{k:05d}" for k in rng.integers(0, 99_999, rows)],
        }
    )


def normal(rows, columns):
    return np.random.default_rng(1).normal(size=(rows, columns))


MODELS = {
    "Detector, 344 penguins": lambda: Detector().fit(load_penguins()),
    "Detector, 500 × 5 mixed": lambda: Detector().fit(mixed(500)),
    "Detector, 20,000 × 5 mixed": lambda: Detector().fit(mixed(20_000)),
    "CreasedREF, 150 × 5": lambda: CreasedREF().fit(normal(150, 5)),
    "CreasedREF, 1,000 × 10": lambda: CreasedREF().fit(normal(1_000, 10)),
    "CreasedREF, 20,000 × 20": lambda: CreasedREF().fit(normal(20_000, 20)),
    "REF, 150 × 5": lambda: REF().fit(normal(150, 5)),
    "REF(alpha=0.05), 20,000 × 20": lambda: REF(alpha=0.05).fit(normal(20_000, 20)),
    "REF(engine='sketch'), 20,000 × 20": lambda: REF(engine="sketch").fit(normal(20_000, 20)),
}


def least(work, times=7):
    """Return the milliseconds of CPU that work takes when nothing else disturbs it."""
    took = []
    for _ in range(times):
        begin = time.process_time()
        work()
        took.append(time.process_time() - begin)
    return 1e3 * min(took)


def row(name, model, path):
    """Return a line of the table."""
    save, load = least(lambda: refold.save(model, path)), least(lambda: refold.load(path))
    return f"| {name} | {path.stat().st_size / 1e3:,.0f} | {save:.1f} | {load:.1f} |"


def main():
    warnings.simplefilter("ignore")
    print("| model | KB | save, ms | load, ms |\n|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, make in MODELS.items():
            print(row(name, make(), Path(folder) / "model.json"), flush=True)


if __name__ == "__main__":
    main()
