"""What is measured of a method on a data set."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from refold._typing import Booleans, Floats, Integers
from refold.model_selection import gmean_score

TITLES = {
    "auroc": "AUROC",
    "auprc": "AUPRC",
    "incidents": "Incidents",
    "gmean": "Gmean",
    "false_alarms": "False alarms",
    "faults_above": "Faults above",
    "faults_below": "Faults below",
    "alarms_05": "Alarms at 5",
    "fit_seconds": "Learning, s",
    "score_seconds": "Scoring, s",
    "seconds_per_1000": "Both, s per 1,000 rows",
}
# Of these higher is better, and methods are ranked by them.
RANKED = ("auroc", "auprc", "incidents", "gmean", "faults_above", "faults_below")
TIMES = ("fit_seconds", "score_seconds", "seconds_per_1000")

# What suites of published protocols measure; suites of streams; and ours.
PUBLISHED = ("auroc", "auprc", *TIMES)
STREAMS = ("auroc", "auprc", "incidents", *TIMES)
MEASURES = tuple(name for name in TITLES if name != "incidents")

ALARM_BUDGET = 0.01  # of the test rows


def ranking_measures(is_anomaly: Booleans, scores: Floats) -> dict[str, float]:
    """Return how well anomalies were ranked before normal rows."""
    return {
        "auroc": float(roc_auc_score(is_anomaly, scores)),
        "auprc": float(average_precision_score(is_anomaly, scores)),
    }


def decision_measures(is_anomaly: Booleans, rejected: Booleans) -> dict[str, float]:
    """Return how well anomalies were told apart, and the share of normal rows that was rejected."""
    return {
        "gmean": gmean_score(np.where(is_anomaly, -1, 1), np.where(rejected, -1, 1)),
        "false_alarms": float(rejected[~is_anomaly].mean()),
    }


def incidents_caught(incident: Integers, scores: Floats) -> float:
    """Return the share of incidents with an alarm, if at most 1 % of all rows raise one.

    `incident` numbers each row's incident from 0; rows of none have -1. Rows with the same score
    as the first one beyond the budget raise no alarm.
    """
    beyond = np.sort(scores)[::-1][int(ALARM_BUDGET * len(scores))]
    caught = np.unique(incident[(scores > beyond) & (incident >= 0)])
    return len(caught) / (int(incident.max()) + 1)
