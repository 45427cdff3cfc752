"""The way of a row: it is read once and scored once, whatever is made of it."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import refold
from refold import REF, CreasedREF, explain
from refold.columns import frames
from refold.judgement import Judgement
from refold.modelfile import document
from refold.models.creased import CreasedScorer
from refold.models.scoring import FoldScorer
from refold.plot import ContributionsDisplay
from refold.report import write_report
from refold.tabular.features import Features
from tests.command import run_in_process

ROWS, NAMES = 500, [*"abcd"]
MODELS = {"REF": lambda: REF(alpha=0.05), "CreasedREF": lambda: CreasedREF(n_creases=16)}


@pytest.fixture
def table(rng):
    return pd.DataFrame(rng.normal(size=(ROWS, 4)), columns=NAMES)


@pytest.fixture(params=MODELS)
def model(request, table):
    return MODELS[request.param]().fit(table)


@pytest.fixture
def walked(monkeypatch, model):
    """How many rows were converted, and scored, without and with reasons, since the fit."""
    counts = Counter()

    def count(where, name, what, rows_of):
        original = getattr(where, name)

        def counting(*arguments, **options):
            counts[what] += rows_of(*arguments)
            return original(*arguments, **options)

        monkeypatch.setattr(where, name, counting)

    count(document, "parse_document", "parsed", lambda *_: 1)
    count(frames, "frame_to_numpy", "converted", len)
    count(Features, "matrix", "converted", lambda _, block, *bad: block.rows)
    for scorer in (FoldScorer, CreasedScorer):
        count(scorer, "distances", "scored", lambda _, X: len(X))
        count(scorer, "attribution", "explained", lambda _, X: len(X))
    return counts


def test_fit_converts_a_frame_once(walked, table):
    REF().fit(table)
    assert walked == {"converted": ROWS}


def test_explain(walked, model, table):
    explain(model, table, reasons=2, nearest=False)
    assert walked == {"converted": ROWS, "explained": ROWS}
    # To find a value that would be accepted, other rows are asked about; the table's are not again.
    explain(model, table, reasons=2)
    assert walked["converted"] == 2 * ROWS
    assert walked["explained"] - 2 * ROWS < 0.02 * ROWS


def test_report(walked, model, table, tmp_path):
    blamed = write_report(model, table, tmp_path / "report.html").blamed
    additive = isinstance(model, REF)
    assert walked == {
        "converted": ROWS,
        "explained": ROWS if additive else blamed,
        **({} if additive else {"scored": ROWS}),
    }


@pytest.mark.parametrize("reasons", [0, 3])
@pytest.mark.parametrize("out", [["--json"], ["-o", "scored.csv"]], ids=["shown", "written"])
def test_refold_score(walked, model, table, tmp_path, monkeypatch, reasons, out):
    monkeypatch.chdir(tmp_path)
    refold.save(model, "model.json")
    table.to_csv("new.csv", index=False)
    outliers = int((model.predict(table) == -1).sum())
    walked.clear()
    command = ["score", "model.json", "new.csv", "--reasons", str(reasons), "--worst", "0", *out]
    run_in_process(monkeypatch, *command)
    written, additive = "-o" in out, isinstance(model, REF)
    assert walked["converted"] == ROWS
    if not written:  # incidents are outliers with the same reasons
        assert (walked["scored"], walked["explained"]) == (ROWS, outliers)
    elif not reasons:
        assert (walked["scored"], walked["explained"]) == (ROWS, 0)
    elif additive:  # reasons come with the distances
        assert (walked["scored"], walked["explained"]) == (0, ROWS)
    else:
        assert (walked["scored"], walked["explained"]) == (ROWS, outliers)


def test_refold_report(walked, model, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refold.save(model, "model.json")
    walked.clear()  # it has parsed what it wrote
    table.to_csv("new.csv", index=False)
    command = ["report", "model.json", "new.csv", "--worst", "5"]
    run_in_process(monkeypatch, *command)
    assert walked["converted"] == ROWS
    assert walked["parsed"] == 1
    assert (walked["scored"], walked["explained"]) == (
        (0, ROWS) if isinstance(model, REF) else (ROWS, (model.predict(table) == -1).sum())
    )


def test_one_judgement_serves_everybody(walked, model, table, tmp_path):
    found = Judgement.of(model, table, explained=True)
    explain(model, found)
    before = dict(walked)
    write_report(model, found, tmp_path / "report.html")
    refold.drift(model, found)
    assert walked == before
    assert walked["converted"] == ROWS


def test_drawing_one_row_looks_at_no_other(walked, model, table):
    ContributionsDisplay.from_estimator(model, table, row=7)
    assert walked["converted"] == walked["explained"] == 1
    with pytest.raises(IndexError, match="no row 500: the table has 500 rows"):
        ContributionsDisplay.from_estimator(model, table, row=500)
    drawn = ContributionsDisplay.from_estimator(model, table, row=-1).explanation
    np.testing.assert_array_equal(drawn.distance, -model.score_samples(table.tail(1))[0])
