"""Which other values of a row one is unlikely with."""

from __future__ import annotations

import numpy as np

from refold._typing import Booleans
from refold.judgement import Judgement
from refold.judgement.expected import Relations
from refold.models.detector.scorer import MeanScorer
from refold.models.detector.scorer import inside as scorer_inside

_MOST_NAMED = 3


def beside(found: Judgement, inside: Booleans) -> list[dict[int, list[int]]]:
    """Return for each rejected row which features are unlikely because of which others."""
    asked = inside & found.outlier[:, None] & (found.attribution().parts > 0.0)
    relations = Relations.of(found)
    if relations is not None:
        return _expected_otherwise(found, relations, asked)
    if isinstance(scorer_inside(found.judge.scorer), MeanScorer):
        # There each column says by itself what it is rare beside.
        return [{} for _ in range(len(found))]
    return _adding_up(found, asked)


def _adding_up(found: Judgement, asked: Booleans) -> list[dict[int, list[int]]]:
    """Name the largest other parts that are too much only together with a feature's own."""
    out, enough = [], found.judge.threshold
    for parts, features in zip(found.attribution().parts, asked, strict=True):
        largest, pairs = np.argsort(-parts, kind="stable")[: _MOST_NAMED + 1].tolist(), {}
        for j in np.flatnonzero(features).tolist():
            total, others = parts[j], list[int]()
            while total <= enough and len(others) < _MOST_NAMED:
                k = next((k for k in largest if k != j and k not in others and parts[k] > 0.0), j)
                if k == j:
                    break
                others.append(k)
                total += parts[k]
            if others and total - parts[j] <= enough:
                pairs[j] = others
        out.append(pairs)
    return out


def _expected_otherwise(
    found: Judgement, relations: Relations, asked: Booleans
) -> list[dict[int, list[int]]]:
    """Name the feature that, had it its own expected value, would make a value most expected."""
    out: list[dict[int, list[int]]] = [{} for _ in range(len(found))]
    columns = np.array(found.judge.numeric)[relations.varying]
    seen, off = ~np.isnan(relations.numbers[:, relations.varying]), relations.deviations
    for number, column in enumerate(columns.tolist()):
        rows = np.flatnonzero(asked[:, column])
        pulls = relations.precision[number] * off[rows] * np.sign(off[rows, number])[:, None]
        pulls[~seen[rows]] = pulls[:, number] = 0.0
        for row, other, pull in zip(rows, pulls.argmax(axis=1), pulls.max(axis=1), strict=True):
            if pull > 0.0:
                out[row][column] = [int(columns[other])]
    return out
