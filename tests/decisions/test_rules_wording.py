"""Rules in words: what somebody reads of the rules that he has typed."""

import pytest

from refold.decisions.rules import rules_in_words
from refold.decisions.rules_reading import read_rules


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"min": 0}, ["at least 0"]),
        ({"max": 5.5}, ["at most 5.5"]),
        ({"min": "2026-01-01", "max": "2026-12-31"}, ["2026-01-01–2026-12-31"]),
        ({"min": 0, "max": 5, "required": True}, ["0–5; never missing"]),
        ({"allowed": ["A", "B"]}, ["only 'A', 'B'"]),
        ({"format": ["AA-99", "A9"]}, ["of the format AA-99 or A9"]),
        ({"direction": "high"}, ["only high values count"]),
        ({"tolerance": 0.5}, ["differences up to 0.5 do not count"]),
        ({"tolerance": "2%"}, ["differences up to 2 % do not count"]),
        ({"tolerance": "1 ulp"}, ["differences up to 1 units of the last place do not count"]),
        ({"blame": False}, ["never named as a reason"]),
        ({"blame": True}, []),
        ({"if": {"when": {"grade": "A"}, "max": 3}}, ["at most 3, where grade = A"]),
        (
            {"max": 5, "mute": "grade = B until 2026-12-31"},
            ["at most 5", "does not count: grade = B until 2026-12-31"],
        ),
    ],
)
def test_each_rule_of_a_column_is_said_in_words(said, words):
    assert rules_in_words(read_rules({"weight": said})) == [("weight", words)]


def test_rows_that_are_muted_are_said_last():
    rules = read_rules({"mute": ["grade = A", {"until": "2026-12-31"}], "weight": {"max": 5}})
    assert rules_in_words(rules) == [
        ("weight", ["at most 5"]),
        ("Rows", ["never outliers: grade = A", "never outliers: until 2026-12-31"]),
    ]
    assert rules_in_words(read_rules(None)) == []


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"when": {"weight": {"max": 3}}}, "weight at most 3"),
        ({"when": {"weight": {"min": 3}}}, "weight at least 3"),
        ({"when": {"weight": {"min": 3, "max": 4}}}, "weight 3–4"),
        ({"when": {"grade": {"format": "AA"}}}, "grade as set"),
        ({"when": {"grade": ["A", "B"]}}, "grade = A or B"),
        ("grade = ''", "grade = "),
        ("grade = '\"'", 'grade = "'),
        ("'the grade' = 'A", "the grade = 'A"),
        ('row has grade "x y"', "grade = x y"),
    ],
)
def test_a_condition_is_said_in_words(condition, words):
    rules = read_rules({"mute": [condition]})
    assert rules_in_words(rules) == [("Rows", [f"never outliers: {words}"])]
