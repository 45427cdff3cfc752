from pyod.models.copod import COPOD

from benchmarks.adapters import from_estimator


def make():
    return from_estimator("PyOD COPOD", COPOD(), score="decision_function")
