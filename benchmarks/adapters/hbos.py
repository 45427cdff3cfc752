from pyod.models.hbos import HBOS

from benchmarks.adapters import from_estimator


def make():
    return from_estimator("PyOD HBOS", HBOS(), score="decision_function")
