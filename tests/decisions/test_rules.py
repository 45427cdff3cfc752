"""Rules: what may be said, and what is said where something is wrong."""

import datetime

import numpy as np
import pytest

from refold.base.errors import UserError
from refold.columns.table import NumberColumn, Table, TextColumn
from refold.decisions.rules_reading import load_rules, read_rules


def table():
    texts = ["A", "B", "CC-12"]
    return Table(
        ["weight", "grade"],
        [
            NumberColumn(np.array([-1.0, 0.0, 5.0, 5.1, np.nan])),
            TextColumn(texts, np.array([0, 1, 2, -1, 0])),
        ],
        5,
    )


def violated(column, **said):
    [rule] = read_rules({column: said}).columns
    [(_, specification)] = rule.specifications
    return specification.violated(table()[column]).tolist()


def test_limits_hold_with_their_ends_and_a_missing_cell_violates_none():
    assert violated("weight", min=0, max=5) == [True, False, False, True, False]
    assert violated("weight", max=5) == [False, False, False, True, False]
    assert violated("weight", min=0, required=True) == [True, False, False, False, True]


def test_allowed_values_and_formats_are_those_of_texts():
    assert violated("grade", allowed=["A", "B"]) == [False, False, True, False, False]
    assert violated("grade", format="AA-99") == [True, True, False, False, True]
    assert violated("grade", allowed=["A"], required=True) == [False, True, True, True, False]


@pytest.mark.parametrize(
    "said",
    [
        "grade = A until 2026-12-31",
        "row has grade 'A' until 2026-12-31",
        {"when": {"grade": "A"}, "until": "2026-12-31"},
        {"when": {"grade": ["A"]}, "until": datetime.date(2026, 12, 31)},
    ],
)
def test_a_mute_is_the_same_in_words_and_as_a_mapping(said):
    rules = read_rules({"mute": [said]})
    [mute] = rules.mutes
    assert mute.text == "grade = A until 2026-12-31"
    last, after = (np.full(5, np.datetime64(day)) for day in ("2026-12-31", "2027-01-01"))
    assert rules.muted(table(), last).tolist() == [True, False, False, False, True]
    assert not rules.muted(table(), after).any()


def test_one_mute_needs_no_list():
    one = {"when": {"grade": "A"}, "until": "2026-12-31"}
    assert read_rules({"mute": one}) == read_rules({"mute": [one]})
    assert read_rules({"mute": {"required": True}}).columns[0].name == "mute"  # a column


def test_conditions_may_be_several_and_of_ranges():
    rules = read_rules({"mute": [{"when": {"weight": {"max": 0}, "grade": ["A", "B"]}}]})
    days = np.full(5, np.datetime64("2026-01-01"))
    assert rules.muted(table(), days).tolist() == [True, True, False, False, False]
    both = read_rules({"mute": "weight = 0 and grade is B"})
    assert both.muted(table(), days).tolist() == [False, True, False, False, False]


def test_a_tolerance_is_absolute_relative_or_of_the_last_place():
    values = np.array([-200.0, 10.0])
    for said, widths in ((0.5, [0.5, 0.5]), ("2%", [4.0, 0.2]), ("3 ulp", [0.03, 0.03])):
        [rule] = read_rules({"x": {"tolerance": said}}).columns
        assert rule.tolerance.width(values, 0.01).tolist() == pytest.approx(widths)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"w": {"min": 5, "max": 0}}, "w: the limits are the wrong way round: min 5 is above max"),
        ({"w": {"mn": 5}}, "w: there is no rule 'mn'. Did you mean 'min'?"),
        ({"w": {"direction": "up"}}, "w: direction is 'up'; it is 'high' or 'low'"),
        ({"w": {"blame": "no"}}, "w: blame is 'no'; it is true or false"),
        ({"w": {"tolerance": -1}}, "w: tolerance is -1; it must be 0 or more"),
        ({"w": {"tolerance": "2 bar"}}, "w: tolerance is '2 bar'; it is a number, a percentage"),
        ({"w": {"min": float("nan")}}, "w: min is nan; it must be a number or a date"),
        ({"w": {"min": "soon"}}, "w: min is 'soon'; it must be a number or a date"),
        ({"w": {"allowed": []}}, "w: allowed names no value"),
        ({"w": 5}, "w: 5 is no mapping such as"),
        ({"w": {"if": [{"min": 1}]}}, "w: if 1: it needs 'when'"),
        ({"w": {"if": {"when": {"a": 1}}}}, "w: if 1: it sets no limit"),
        ({"mute": "machine"}, "mute: 'machine' is no condition such as machine = M17"),
        ({"mute": "a = b until someday"}, "mute: until 'someday' is no day such as 2026-12-31"),
        ({"mute": [{"unless": 1}]}, "mute: there is no rule 'unless'"),
        ({"mute": [5]}, "mute: 5 is no condition such as"),
        ({"mute": ""}, "mute: it is empty, and would mute every row"),
        ({"mute": ["a = b", " "]}, "mute: it is empty, and would mute every row"),
        ({"w": {"mute": ""}}, "w: mute: it is empty, and would mute every row"),
        ({"w": {"max": 10**400}}, "it must be a number or a date"),
        ({"w": {"tolerance": 10**400}}, "it must be 0 or more"),
        ({"w": {"allowed": {"A": 1}}}, "w: allowed is {'A': 1}; it is a list of values"),
        ({"w": {"allowed": [None]}}, "w: allowed is None; it is a list of values"),
        ({"w": {"format": 5}}, "w: format is 5; it is a text such as 'AA-9999'"),
        ({"w": {"format": ["AA", ""]}}, "w: format is ''; it is a text such as 'AA-9999'"),
        ({"w": {"format": []}}, "w: format names no value"),
        ({"mute": [{"when": {"a": [["b"]]}}]}, "mute: a is ['b']; it is a list of values"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(given, problem):
    with pytest.raises(UserError, match=r"^rules: ") as error:
        read_rules(given)
    assert problem in str(error.value)


def test_a_file_is_toml_or_json_and_errors_name_the_line(tmp_path):
    toml = tmp_path / "rules.toml"
    toml.write_text("[w]\nmin = 0\n[day]\nmax = 2026-12-31\n[mute]\nblame = false\n")
    json = tmp_path / "rules.json"
    json.write_text('{"w": {"min": 0}, "day": {"max": "2026-12-31"}, "mute": {"blame": false}}')
    assert read_rules(load_rules(toml)) == read_rules(load_rules(json))
    toml.write_text("[w]\nmin = \n")
    with pytest.raises(UserError, match=r"rules.toml: .*line 2"):
        load_rules(toml)
    json.write_text('{"w":\n {"min": }}')
    with pytest.raises(UserError, match=r"rules.json, line 2: "):
        load_rules(json)
    toml.write_bytes(b"[w]\nmin = \xff")
    with pytest.raises(UserError, match="byte 10 is not UTF-8"):
        load_rules(toml)
    json.write_text('{"w": {"min": ' + "9" * 5000 + "}}")
    with pytest.raises(UserError, match=r"rules\.json: "):
        load_rules(json)
    json.write_text("[" * 5000)
    with pytest.raises(UserError, match=r"rules\.json"):
        load_rules(json)
