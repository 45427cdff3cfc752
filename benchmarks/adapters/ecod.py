from pyod.models.ecod import ECOD

from benchmarks.adapters import from_estimator


def make():
    return from_estimator("PyOD ECOD", ECOD(), score="decision_function")
