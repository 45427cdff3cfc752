"""One row by itself is judged as it is among many, to the bit."""

import numpy as np
import pytest

from refold.judgement import Judge, Judgement, answers, one_row
from tests.judgement.test_judgement import MODELS


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    X = np.random.default_rng(0).normal(size=(400, 4))
    X[:, 3] = np.round(X[:, 3])  # many rows have these values: they are not blamed first
    return MODELS[request.param]().fit(X)


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(1).normal(size=(40, 4)) * np.linspace(0.1, 5.0, 40)[:, None]
    X[::3, 3] = 0.0
    X[::5, 1] = np.nan
    X[7] = 0.0
    return X


def test_a_row_has_the_verdict_of_the_model_itself(model, rows):
    judge, calibrated = Judge.of(model), hasattr(model, "calibration_")
    for row in rows:
        found, alone = one_row(judge, row.tolist()), row[None]
        assert found.label == model.predict(alone)[0]
        assert found.distance == -model.score_samples(alone)[0]
        assert found.p_value == (model.p_values(alone)[0] if calibrated else None)
        assert found.reasons == []
        assert {type(found.label), type(found.distance)} == {int, float}


@pytest.mark.parametrize("asked", [1, 3, 9])
def test_a_row_has_the_reasons_that_a_table_names(model, rows, asked):
    judge = Judge.of(model)
    for row in rows[::4]:
        columns = answers(Judgement.of(model, row[None], explained=True), asked)[-asked:]
        named = [column[0].as_py() for column in columns]
        found = one_row(judge, row.tolist(), asked)
        assert found.reasons == [name for name in named if name is not None]
        assert found._replace(reasons=[]) == one_row(judge, row.tolist())
