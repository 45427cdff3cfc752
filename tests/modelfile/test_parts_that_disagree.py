"""Each part of a file may be right by itself and still not belong to the others."""

import json
import re
from functools import cache

import numpy as np
import pytest

from refold import REF, CreasedREF, Detector, ModelFileError
from refold.modelfile import document
from refold.modelfile.document import from_bytes, to_bytes
from refold.modelfile.json_text import Budget
from refold.models.files import KINDS
from tests.modelfile import test_detector as detector
from tests.modelfile.conftest import sealed, unpacked


def rows():
    return np.random.default_rng(0).normal(size=(200, 3))


NUMBERS = {
    "CreasedREF": lambda: CreasedREF(n_creases=8, n_jobs=1).fit(rows()),
    "CreasedREF that waits": lambda: CreasedREF(n_creases=8, n_jobs=1).partial_fit(rows()),
    "REF": lambda: REF(alpha=0.1).fit(rows()),
    "groups": lambda: Detector(by="machine").fit(detector.mixed(300)[["machine", "torque"]]),
    "no groups": lambda: Detector(context="machine").fit(
        detector.mixed(300)[["machine", "torque"]]
    ),
}


@cache
def written(make):
    return to_bytes({**detector.MAKES, **NUMBERS}[make](), KINDS, "0")


def changed(make, path, value):
    """Return a document with another value in one place; a function makes it of the old one."""
    document = unpacked(json.loads(written(make)))
    here = document
    *steps, last = [int(s) if s.lstrip("-").isdigit() else s for s in re.split(r"[.\[\]]+", path)]
    for step in steps:
        here = here[step]
    here[last] = value(here[last]) if callable(value) else value
    return document


def inside_of(make):
    return lambda _: unpacked(json.loads(written(make)))["inside"]["model"]


def one_missing(tally):
    text = max(tally["counts"], key=tally["counts"].get)
    fewer = {**tally["counts"], text: tally["counts"][text] - 1}
    return {**tally, "missing": tally["missing"] + 1, "counts": fewer}


def without_name(column):
    return {key: value for key, value in column.items() if key != "name"}


def no_weight(calibration):
    return {**calibration, "weights": calibration["weights"] * 0}


NO_TABLE = {"rows": 0, "guessed": True, "columns": []}
DISAGREE = [
    ("creased", "table.columns.1.counts.shapes", one_missing, "as many missing as the values"),
    ("creased", "sample.keys", lambda keys: np.append(keys, 0.5), "has 300 rows for 301 keys"),
    ("creased", "inside.model", inside_of("numbers, ref"), "must be a CreasedREF, or null"),
    ("creased", "inside.model", inside_of("texts alone"), "as many as features"),
    ("texts alone", "table.sketch", {}, "must be null where no column is one of numbers"),
    ("numbers", "inside.model", None, "must be there for a table of numbers alone"),
    ("waiting", "sample.keys", [0.5], "must be null while rows wait"),
    ("waiting", "sample.seen", 1, "must be 250, the rows that wait"),
    ("waiting", "cut", {}, "must be null while rows wait"),
    ("waiting", "waiting", NO_TABLE, "must have rows and columns"),
    ("waiting", "waiting.columns.0", without_name, "lacks the member 'name'"),
    ("trimmed", "cut.table.columns.1.name", "other", "for something else than the table of all"),
    ("CreasedREF", "recipe.box", -1.0, "must be from 0 to"),
    ("CreasedREF", "edges", None, "must be there if, and only if, rows were learned"),
    ("CreasedREF", "cut", {}, "must be there if, and only if, rows are left out"),
    ("CreasedREF", "judge.left_out", np.ones(1), "must be 200, not 1"),
    ("CreasedREF", "creases.gauss.starts.3", 161, "must end with the number of knots, 162"),
    ("CreasedREF", "judge.calibration", no_weight, "must add up to a finite number above 0"),
    ("CreasedREF that waits", "waiting", [], "must be a list of chunks of rows"),
    ("groups", "context.group_scales", np.full(4, 0.5), "must be at least 1"),
    ("groups", "context.group_scales", np.ones(3), "must be 4, not 3"),
    ("groups", "context.group_scales", np.full(4, 2.0), "must end with 1"),
    ("no groups", "context.group_scales", np.ones(1), "must be null for a model without groups"),
    ("REF", "cut", {}, "must be null for the engine 'exact', which does not go on"),
]


@pytest.mark.parametrize("make", [*detector.MAKES, *NUMBERS])
def test_saving_reckons_with_what_loading_takes(make, monkeypatch):
    """What is written can be read: `save` does not try."""
    budgets = []

    def budget(*size):
        budgets.append(Budget(*size))
        return budgets[-1]

    monkeypatch.setattr(document, "Budget", budget)
    raw = to_bytes({**detector.MAKES, **NUMBERS}[make](), KINDS, "0")
    from_bytes(raw, KINDS)
    arrays, text, reading = (each.used for each in budgets)
    checksum = 2000  # the last member, which is written when all is reckoned
    assert arrays + text + checksum >= reading


@pytest.mark.parametrize(("make", "path", "value", "said"), DISAGREE)
def test_a_part_that_does_not_belong_to_the_others_is_refused_by_its_path(make, path, value, said):
    with pytest.raises(ModelFileError, match=re.escape(said)) as caught:
        from_bytes(sealed(changed(make, path, value)), KINDS)
    assert caught.value.where.split(".")[0].split("[")[0] == path.split(".")[0]
    from_bytes(written(make), KINDS)  # nothing else is wrong with it
