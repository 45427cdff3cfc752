from sklearn.ensemble import IsolationForest

from benchmarks.adapters import from_estimator


def make():
    return from_estimator("IsolationForest", IsolationForest(n_jobs=1, random_state=0))
