"""Rules of the user's own: typed in the form, refused by their place, kept in the project."""

import html
import json
import re
import tomllib
import zipfile

import numpy as np
import pandas as pd
import pytest

from refold import Detector, RateWarning
from refold.decisions.rules import rules_in_words
from refold.decisions.rules_reading import read_rules

# The columns by place: machine, heat [C], torque, day, code, state.
TYPED = {
    "rule": [0, 1, 2, 3],
    "allowed-0": 'A, B, "C, D"',
    "max-1": "26.123456",
    "direction-1": "high",
    "min-2": "-5",
    "tolerance-2": "2%",
    "max-3": "2026-12-31",
    "unblamed-3": 1,
    "mute": "machine = Z until 2099-12-31\r\n\r\n",
}
RULES = {
    "machine": {"allowed": ["A", "B", "C, D"]},
    "heat [C]": {"max": 26.123456, "direction": "high"},
    "torque": {"min": -5.0, "tolerance": "2%"},
    "day": {"max": "2026-12-31", "blame": False},
    "mute": ["machine = Z until 2099-12-31"],
}


@pytest.fixture
def opened(visitor, files):
    visitor.put("/table", files / "parts.csv")
    return visitor


def typed_in(page):
    """Return what the fields of the form hold, as a browser would send it."""
    fields = {
        name: html.unescape(value)
        for name, value in re.findall(r'<input name="([a-z]+-\d+)" value="([^"]*)"', page)
    }
    return {name: value for name, value in fields.items() if value}


def test_a_model_is_learned_with_what_was_typed(opened, files):
    news = opened.post("/learn", **TYPED)
    assert not news.bad, news
    trained = opened.state.trained
    assert trained.model.rules == trained.choice.rules == RULES
    new = pd.read_csv(files / "new.csv")
    rows = pd.read_csv(files / "parts.csv")
    expected = Detector(rules=RULES, roles=trained.model.roles, id_column=trained.model.id_column)
    opened.put("/check", files / "new.csv")
    labels = opened.state.checked.found.labels
    np.testing.assert_array_equal(labels, expected.fit(rows).predict(new))
    assert labels[20] == 1  # machine Z is muted
    page = opened.page("/learn")
    assert typed_in(page) == {
        "allowed-0": 'A, B, "C, D"',
        "max-1": "26.123456",
        "min-2": "-5",
        "tolerance-2": "2%",
        "max-3": "2026-12-31",
    }
    assert "machine = Z until 2099-12-31</textarea>" in page
    assert '<option value="high" selected>' in page
    assert "only high values count" in page
    assert "{'" not in html.unescape(page[page.index("Your rules") : page.index("small print")])


def test_learning_again_keeps_or_takes_back_what_the_form_shows(opened):
    opened.post("/learn", **TYPED)
    opened.post("/learn", without=[3])  # no line of the form
    assert opened.state.trained.model.rules == RULES
    opened.post("/learn", **{"rule": [0, 1, 2, 3], "max-1": "30", "mute": ""})
    assert opened.state.trained.model.rules == {"heat [C]": {"max": 30.0}}
    opened.post("/learn", rule=[1])
    assert opened.state.trained.model.rules is None


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"min-1": "5", "max-1": "2"}, "heat [C]: the limits are the wrong way round"),
        ({"min-1": "five"}, "heat [C]: min is 'five'; it must be a number or a date"),
        ({"min-1": "nan"}, "heat [C]: min is nan; it must be a number"),
        ({"tolerance-1": "much"}, "heat [C]: tolerance is 'much'"),
        ({"direction-1": "up"}, "heat [C]: direction is 'up'"),
        ({"mute": "nothing at all"}, "mute: 'nothing at all' is not a condition"),
        ({"mute": "machina = M17"}, "Did you mean 'machine'?"),
        ({"rule": [0], "min-0": "1"}, "machine: min is for numbers and dates"),
    ],
)
def test_a_bad_rule_is_told_by_its_place_and_may_be_mended(opened, typed, sentence):
    before = opened.state
    news = opened.post("/learn", **{"rule": [1], **typed})
    assert news.bad
    assert sentence in news.text.replace('"', "'")
    assert opened.state is before
    page = opened.page("/learn")
    for name, value in typed.items():
        if name.startswith(("min", "max", "tolerance")):
            assert typed_in(page)[name] == value
    assert typed.get("mute", "") in page


def test_columns_that_are_not_learned_have_no_line_unless_they_have_a_rule(opened):
    opened.post("/learn", **{"rule": [1], "max-1": "30"})
    opened.post("/table/columns", **{"role-1": "ignore", "role-4": "ignore"})
    lines = re.findall(r'name="rule" value="(\d+)"', opened.page("/learn"))
    assert "1" in lines
    assert "4" not in lines
    news = opened.post("/learn", rule=[1], **{"max-1": "30"})
    assert news.bad
    assert "heat [C]" in news.text
    assert "not learned" in news.text
    assert not opened.post("/learn", rule=[1]).bad


def test_rules_are_in_the_project(opened, tmp_path):
    opened.post("/learn", **TYPED)
    file = tmp_path / "project.zip"
    file.write_bytes(opened.take("project.zip"))
    about = json.loads(zipfile.ZipFile(file).read("project.json"))
    assert about["settings"]["rules"] == RULES
    words = rules_in_words(read_rules(RULES))
    opened.post("/forget")
    assert not opened.put("/project", file).bad
    assert opened.state.choice.rules == RULES
    page = html.unescape(opened.page("/learn"))
    for text in (text for _, texts in words for text in texts):
        assert text in page


def test_training_rows_outside_a_limit_are_said(opened):
    opened.post("/learn", **{"rule": [1], "max-1": "20"})
    page = opened.page("/learn")
    assert "training rows lie outside the limits that you set for heat [C]" in page


def test_limits_are_drawn_on_the_histogram_of_their_column(opened, files):
    assert "broken line" not in opened.page("/")
    typed = {"rule": [1, 2, 3], "max-1": "21", "max-2": "5000", "min-3": "2026-03-20"}
    assert not opened.post("/learn", **typed).bad
    page = html.unescape(opened.page("/"))
    assert re.findall(r"your limit \(broken line\): ([^<]*)", page) == [
        "at most 21",
        "at most 5000",
        "at least 2026-03-20",
    ]
    places = [float(x) for x in re.findall(r'class="limit" d="M([0-9.]+) 0V', page)]
    heat = pd.read_csv(files / "parts.csv")["heat [C]"].dropna()
    low, high = np.quantile(heat, [0.005, 0.995])
    days = pd.to_datetime(pd.read_csv(files / "parts.csv")["day"])
    first, last = days.quantile([0.005, 0.995])
    day = (pd.Timestamp("2026-03-20") - first) / (last - first)
    # 5000 lies beyond the histogram of the torque: it is said, not drawn.
    np.testing.assert_allclose(places, [160 * (21 - low) / (high - low), 160 * day], atol=0.01)


def test_a_column_may_be_called_as_the_page_calls_rows(visitor, tmp_path):
    table = pd.DataFrame({"Rows": np.arange(300) % 7 + 0.5, "mute": ["a", "b", "c"] * 100})
    table.to_csv(tmp_path / "names.csv", index=False)
    visitor.put("/table", tmp_path / "names.csv")
    typed = {"rule": [0, 1], "max-0": "9", "mute": "mute = b"}
    assert not visitor.post("/learn", **typed).bad
    assert visitor.state.trained.rules == [
        ("Rows", ["at most 9"]),
        ("Rows", ["never outliers: mute = b"]),
    ]
    refused = visitor.send("/learn", **typed, **{"allowed-1": "a, b, c"})
    assert refused.status_code == 400
    assert "a column called mute" in refused.text
    assert not visitor.post("/learn", **{"rule": [0, 1], "allowed-1": "a, b, c", "mute": ""}).bad
    assert visitor.state.trained.rules == [("mute", ["only 'a', 'b', 'c'"])]


def test_a_wide_table_has_a_bounded_form_that_keeps_the_other_rules(visitor, tmp_path, monkeypatch):
    monkeypatch.setattr("refold.app.own_rules.MOST_LINES", 2)
    monkeypatch.setattr("refold.app.application.MOST_LINES", 2)
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 4)), columns=[*"abcd"])
    wide.to_csv(tmp_path / "wide.csv", index=False)
    visitor.put("/table", tmp_path / "wide.csv")
    page = visitor.page("/learn")
    assert re.findall(r'name="rule" value="(\d+)"', page) == ["0", "1"]
    assert "At most 2 columns have a line here" in page
    visitor.post("/learn", **{"rule": [3], "max-3": "9"})  # a line that was not shown
    assert re.findall(r'name="rule" value="(\d+)"', visitor.page("/learn")) == ["0", "1", "3"]
    visitor.post("/learn", **{"rule": [0, 1], "min-0": "-9"})
    assert visitor.state.trained.model.rules == {"a": {"min": -9.0}, "d": {"max": 9.0}}


FILE = """
mute = [{when = {machine = "Z"}, until = 2099-12-31}, "machine = Y"]
[machine]
required = true
format = ["A", "AA"]
["heat [C]"]
max = 26
if = [{when = {machine = "A"}, max = 24}]
mute = "machine = B"
[day]
max = 2026-12-31
"""


def test_rules_come_from_a_file_and_the_form_has_them(opened):
    news = opened.put("/rules", FILE.encode(), "rules.toml")
    assert not news.bad, news
    assert "rules.toml: the form below has its rules" in news.text
    assert opened.state.trained is None  # they count when it is learned
    page = html.unescape(opened.page("/learn"))
    assert typed_in(page) == {"format-0": "A, AA", "max-1": "26", "max-3": "2026-12-31"}
    assert 'name="required-0" value="1" checked' in page
    assert "from the file: at most 24, where machine = A" in page
    assert "from the file: does not count: machine = B" in page
    assert "From the file: never outliers: machine = Z until 2099-12-31" in page
    assert "machine = Y</textarea>" in page
    sent = {"rule": [0, 1, 3], "required-0": 1, **typed_in(page), "mute": "machine = Y"}
    assert not opened.post("/learn", **sent).bad
    expected = read_rules(tomllib.loads(FILE))
    learned = read_rules(opened.state.trained.model.rules)
    assert set(learned.columns) == set(expected.columns)
    assert set(learned.mutes) == set(expected.mutes)
    assert opened.take("project.zip")  # dates of TOML are texts


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("rules.toml", "[machine]\nallowed = [1 2]", "(at line 2, column 14)"),
        ("rules.json", '{"machine":\n 5,}', "rules.json, line 2"),
        ("rules.json", '{"machine": 5}', "machine: 5 is not a mapping"),
        ("rules.toml", "[machina]\nrequired = true", "Did you mean 'machine'?"),
        ("rules.toml", "[machine]\nmax = 5", "max is for numbers and dates"),
        ("rules.toml", "PK\x03\x04", "rules.toml: "),
    ],
)
def test_a_bad_file_of_rules_changes_nothing(opened, name, content, sentence):
    before = opened.state
    news = opened.put("/rules", content.encode(), name)
    assert news.bad
    assert sentence in news.text
    assert opened.state is before
    assert not [file for file in opened.workspace.folder.iterdir() if file not in before.paths]


def test_one_mute_of_a_file_needs_no_list(opened):
    opened.put("/rules", b'[mute]\nwhen = {machine = "Z"}\n', "rules.toml")
    assert "From the file: never outliers: machine = Z" in opened.page("/learn")
    assert not opened.post("/learn", rule=[1], mute="machine = Y").bad
    assert opened.state.trained.model.rules == {"mute": ["machine = Y", {"when": {"machine": "Z"}}]}


def test_what_was_learned_comes_back_as_rules(opened):
    opened.post("/learn")
    taken = opened.take("rules.toml")
    assert not opened.put("/rules", taken, "rules.toml").bad
    assert not opened.post("/learn").bad
    assert opened.state.trained.model.rules == tomllib.loads(taken.decode())


def test_what_python_warns_of_is_on_the_page(opened):
    with pytest.warns(RateWarning) as warned:
        opened.post("/learn", rule=[1], mute="machine = M99", **{"max-1": "20"})
    page = html.unescape(opened.page("/learn"))
    assert "mute: machine = M99 holds for none of" in page
    assert len(warned) == page[: page.index('id="normal"')].count("<li>") - 5  # beside the steps
