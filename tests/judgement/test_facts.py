"""What a fitted model is, in words."""

import numpy as np
import pytest

from refold import REF, CreasedREF, Detector
from refold.judgement.facts import asked_for, calibrated_on, training_rows


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (REF(), "REF()"),
        (REF(fold="sqr", n_iter=3), "REF(fold='sqr', n_iter=3)"),
        (REF(fold=np.square), "REF(fold=square)"),
        (Detector(roles={}), "Detector()"),
        (Detector(roles={"a": "text"}, alpha=0.1), "Detector(alpha=0.1, roles={'a': 'text'})"),
    ],
)
def test_what_was_asked_for_is_what_is_not_as_by_default(model, said):
    assert asked_for(model) == said


def test_training_rows_are_counted_and_where_p_values_come_from_is_said(rng):
    X = rng.normal(size=(250, 2))
    said = {
        "250 training rows, each left out in turn": CreasedREF(n_creases=8).fit(X),
        "50 normal rows that were held out": REF().fit(X).calibrate(X[:50], alpha=0.1),
        "none": REF().fit(X),
    }
    for words, model in said.items():
        assert (training_rows(model), calibrated_on(model)) == (250, words)
    table = [{"a": x, "b": "ST"[k % 2]} for k, x in enumerate(X[:, 0])]
    assert training_rows(Detector(n_jobs=1).fit(table)) == 250
