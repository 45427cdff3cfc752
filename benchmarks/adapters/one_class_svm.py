from sklearn.svm import OneClassSVM

from benchmarks.adapters import from_estimator

MAX_ROWS = 5_000  # quadratic: the whole table would take hours


def make():
    return from_estimator("OneClassSVM", OneClassSVM())
