"""What notebooks show: complete, harmless, readable, and the diagram where nothing was learned."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from refold import REF, CreasedREF, Detector, check, compare, drift, explain, limits, suspects
from refold.base.findings import told
from refold.cards import card_html
from tests.conformance.models import MODELS

HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(2)>"
VOID = {"path", "rect", "meta", "br"}


class Read(HTMLParser):
    """The tags and attributes of a page, and its text; complains of tags that are not closed."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts, self._open = [], set(), [], []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open[-1:] != ["style"]:
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(self.texts)


def table(rows=300):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            HOSTILE: rng.normal(75.0, 2.0, rows),
            "machine": np.where(rng.random(rows) < 0.5, "A", HOSTILE),
            "pressure": rng.exponential(3.0, rows),
        }
    )


def new_rows():
    new = table(40)
    new.loc[3, HOSTILE] = 200.0
    new.loc[4, "machine"] = f"never{HOSTILE}"
    return new


def outputs():
    """Return everything that has something to show."""
    frame, new = table(), new_rows()
    numbers = frame.drop(columns="machine")
    detector, ref = Detector().fit(frame), REF(alpha=0.05).fit(numbers)
    explained = detector.explain(new)
    return {
        "Detector": detector,
        "REF": ref,
        "CreasedREF": CreasedREF(n_creases=16).fit(numbers),
        "explanations": explained,
        "few explanations": explained[2:5],
        "explanation": explained[3],
        "drift": drift(detector, new.assign(**{HOSTILE: 99.0})),
        "findings": check(frame.assign(**{f"x{HOSTILE}": 1.0})),
        "suspects": suspects(new, 5),
        "comparison": compare(ref, REF(alpha=0.3).fit(numbers), numbers),
        "limits": limits(ref),
    }


SHOWN = outputs()


@pytest.fixture(params=SHOWN)
def page(request):
    return SHOWN[request.param]._repr_html_()


def test_nothing_of_a_table_can_do_anything_in_the_notebook(page):
    read = Read(page)
    assert not {"script", "img", "link", "iframe", "a"} & set(read.tags)
    assert not {name for name in read.attributes if name.startswith("on")}
    assert read.tags.count("style") == 1
    assert "http" not in page
    assert HOSTILE in read.text  # it is shown as it is


def test_the_style_is_for_what_is_shown_alone(page):
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)[1]
    bare = re.sub(r"@media[^{]*", "", re.sub(r"\{[^{}]*\}", ",", style))
    selectors = [part.strip() for part in re.split("[,{}]", bare) if part.strip()]
    assert len(selectors) > 20
    assert [part for part in selectors if not part.startswith(".refold")] == []


@pytest.mark.parametrize("name", MODELS)
def test_the_card_of_every_model_has_its_columns_and_its_rate(name):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["heat", "gear", "load"])
    model = MODELS[name]()
    unfitted = model._repr_mimebundle_()["text/html"]
    assert "sk-top-container" in unfitted
    model.fit(X)
    read = Read(model._repr_html_())
    assert {"heat", "gear", "load", "Training rows", "200", "Threshold"} <= set(read.texts)
    assert model._repr_mimebundle_()["text/html"] == card_html(model)
    assert model._repr_mimebundle_()["text/plain"] == repr(model)
    assert "sk-top-container" in clone(model)._repr_html_()


def test_a_model_that_was_told_to_be_text_stays_text():
    model = REF().fit(np.random.default_rng(0).normal(size=(50, 2)))
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert model._repr_mimebundle_() == {"text/plain": "REF()"}


def test_a_pipeline_shows_its_own_diagram():
    X = np.random.default_rng(0).normal(size=(50, 2))
    assert "StandardScaler" in make_pipeline(StandardScaler(), REF()).fit(X)._repr_html_()


def test_a_model_that_waits_for_rows_says_so():
    model = CreasedREF(n_creases=16).partial_fit(np.ones((1, 2)))
    assert "at least 2 rows" in model._repr_html_()
    assert "scoring_" in dir(model)


def test_what_was_noticed_is_on_the_card():
    X = np.random.default_rng(0).normal(size=(100, 2))
    X[7, 1] = 1e6
    model = Detector().fit(X)
    assert model.noticed_
    assert set(told(model.noticed_)) <= set(Read(card_html(model)).texts)


def test_a_card_of_very_many_columns_has_an_end():
    model = REF().fit(np.random.default_rng(0).normal(size=(30, 1000)))
    page = card_html(model)
    assert "800 more columns are not shown." in page
    assert len(page) < 300_000


def test_of_many_rows_the_worst_are_shown():
    rng = np.random.default_rng(0)
    model, new = REF(alpha=0.05).fit(rng.normal(size=(300, 2))), rng.normal(size=(50, 2))
    new[31] = 40.0
    read = Read(explain(model, new)._repr_html_())
    assert next(text for text in read.texts if text.startswith("row ")).startswith(
        "row 31: outlier"
    )
    assert sum(text.startswith("row ") for text in read.texts) == 10


@pytest.mark.parametrize(
    "column",
    [
        np.full(60, 3.0),
        np.r_[-1.7e308, 1.7e308, np.zeros(58)],
        np.r_[np.full(30, np.nan), np.arange(30.0)],
        np.tile([5e-324, 0.0], 30),
    ],
)
def test_odd_columns_have_a_picture_without_nan(column):
    X = np.column_stack([column, np.arange(60.0) % 7])
    page = card_html(REF().fit(X))
    assert "nan" not in page
    assert "inf" not in page
