"""Rules: what may be said, and what is said where something is wrong."""

import datetime

import numpy as np
import pytest

from refold.base.errors import UserError
from refold.columns.table import DateColumn, NumberColumn, Table, TextColumn
from refold.decisions.rules_reading import load_rules, read_rules

SIX = "'A', 'B', 'C', 'D', 'E', 'F'"
OUTSIDE = "is outside the limit you set, at most"


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


def words(column, cell, **said):
    """What is said of a single cell."""
    if isinstance(cell, str):
        row = Table([column], [TextColumn([cell], np.array([0]))], 1)
    elif isinstance(cell, np.datetime64):
        seconds = np.array([np.nan if np.isnat(cell) else cell.astype("M8[s]").astype(float)])
        row = Table([column], [DateColumn(seconds, has_date=True, has_clock=False)], 1)
    else:
        row = Table([column], [NumberColumn(np.array([cell]))], 1)
    return read_rules({column: said}).words(column, row, "{:g}".format, " bar")


def test_limits_hold_with_their_ends_and_a_missing_cell_violates_none():
    assert violated("weight", min=0, max=5) == [True, False, False, True, False]
    assert violated("weight", max=5) == [False, False, False, True, False]
    assert violated("weight", min=0, required=True) == [True, False, False, False, True]


def test_allowed_values_and_formats_are_those_of_texts():
    assert violated("grade", allowed=["A", "B"]) == [False, False, True, False, False]
    assert violated("grade", format="AA-99") == [True, True, False, False, True]
    assert violated("grade", allowed=["A"], required=True) == [False, True, True, True, False]


def test_the_last_day_counts_whole_and_a_moment_as_it_is():
    days = np.array(["2026-12-30T23:59", "2026-12-31T23:59", "2027-01-01"], dtype="M8[s]")
    column = DateColumn(days.astype(np.int64).astype(float), has_date=True, has_clock=True)
    for limits, outside in (
        ({"max": "2026-12-31"}, [False, False, True]),
        ({"max": "2026-12-31T12:00"}, [False, True, True]),
        ({"min": "2026-12-31"}, [True, False, False]),
    ):
        [rule] = read_rules({"day": limits}).columns
        assert rule.specifications[0][1].violated(column).tolist() == outside


@pytest.mark.parametrize(
    ("cell", "said", "sentence"),
    [
        (5.5, {"max": 5}, "is outside the limit you set, at most 5 bar"),
        (-1.0, {"min": 0, "max": 5}, "is outside the limit you set, 0–5 bar"),
        (np.nan, {"max": 5, "required": True}, "is required by the rule you set"),
        ("C", {"allowed": ["A", "B"]}, "is not among the values you allow, 'A', 'B'"),
        ("x", {"allowed": list("ABCDEF")}, f"is not among the values you allow, {SIX}"),
        ("x", {"allowed": list("ABCDEFG")}, f"is not among the values you allow, {SIX}, …"),
        ("C", {"format": ["AA", "A9"]}, "does not have the format you set, AA or A9"),
        ("C", {"allowed": ["C"], "format": "A9"}, "does not have the format you set, A9"),
        (5.0, {"max": 5}, ""),
        (np.nan, {"max": 5}, ""),
        (np.datetime64("2026-02-01"), {"max": "2026-01-31"}, f"{OUTSIDE} 2026-01-31 bar"),
        (np.datetime64("NaT"), {"required": True}, "is required by the rule you set"),
    ],
)
def test_a_cell_is_said_to_violate_its_rule_in_words(cell, said, sentence):
    assert words("cell", cell, **said) == sentence


def test_a_rule_for_some_rows_is_said_with_them_and_others_of_the_column_hold_too():
    rules = read_rules({"weight": {"if": {"when": {"grade": "A"}, "max": 3}, "max": 9}})
    texts = ["A", "B"]
    for weight, grade, sentence in (
        (4.0, 0, "is outside the limit you set, at most 3 where grade = A"),
        (4.0, 1, ""),
        (9.5, 1, "is outside the limit you set, at most 9"),
    ):
        columns = [NumberColumn(np.array([weight])), TextColumn(texts, np.array([grade]))]
        row = Table(["weight", "grade"], columns, 1)
        assert rules.words("weight", row, "{:g}".format, "") == sentence
        assert rules.words("grade", row, "{:g}".format, "") == ""


def test_limits_of_all_rows_are_those_that_no_condition_narrows():
    rules = read_rules(
        {
            "weight": {"min": 0, "max": 5, "if": {"when": {"grade": "A"}, "max": 3}},
            "day": {"max": "1970-01-02"},
            "grade": {"allowed": ["A"]},
        }
    )
    assert rules.limits_of("weight") == ((0.0, 5.0), "0–5")
    assert rules.limits_of("day") == ((86_400.0,), "at most 1970-01-02")
    assert rules.limits_of("grade") == rules.limits_of("flow") == ((), "")


@pytest.mark.parametrize(
    ("said", "moves", "calibrates"),
    [
        ({"w": {"blame": False}}, False, False),
        ({"w": {"direction": "low"}}, True, True),
        ({"w": {"tolerance": 1}}, True, True),
        ({"w": {"max": 5}}, False, True),
        ({"w": {"max": 5}, "v": {"max": 5, "blame": True}}, False, True),
        ({"w": {"mute": "a = b"}}, False, True),
        ({"mute": "a = b"}, False, True),
    ],
)
def test_distances_differ_by_all_rules_but_those_that_only_blame(said, moves, calibrates):
    rules = read_rules(said)
    assert [rule.moves for rule in rules.columns] == [moves] * len(rules.columns)
    assert rules.calibrates == calibrates
    assert rules
    assert not read_rules({})
    both = read_rules(said | {"v": {"blame": False}})
    assert both.calibrates == calibrates
    assert both.unblamed == (*rules.unblamed, "v")
    assert rules.unblamed == (("w",) if said == {"w": {"blame": False}} else ())


ROLES = {"weight": "number", "grade": "category", "day": "date"}


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"weight": {"min": 0}, "day": {"max": "2026-12-31"}, "grade": {"format": "A"}}, ""),
        ({"mute": {"when": {"weight": "5", "day": "2026-12-31", "grade": 5}}}, ""),
        ({"weight": {"tolerance": "1 ulp", "direction": "low"}}, ""),
        ({"wieght": {"max": 5}}, "wieght: there is no column 'wieght'. Did you mean 'weight'?"),
        ({"note": {"max": 5}}, "note: the column 'note' is not learned"),
        ({"weight": {"allowed": [5]}}, "weight: allowed is for texts and categories"),
        ({"weight": {"max": "2026-12-31"}}, "weight: max is '2026-12-31', and this is a column of"),
        ({"day": {"min": 5}}, "day: min is 5.0, and this is a column of the role date"),
        ({"grade": {"min": 5}}, "grade: min is for numbers and dates, and this is a column of the"),
        ({"grade": {"direction": "low"}}, "grade: direction is for numbers"),
        ({"day": {"tolerance": 5}}, "day: tolerance is for numbers"),
        ({"day": {"format": "99"}}, "day: format is for texts"),
        ({"mute": {"when": {"weight": "five"}}}, "mute: weight: 'five' is not a number"),
        ({"grade": {"mute": {"when": {"x": 5}}}}, "grade: mute: x: there is no column 'x'"),
        (
            {"grade": {"if": {"when": {"weight": {"format": "9"}}, "required": True}}},
            "grade: if: weight: format is for texts",
        ),
    ],
)
def test_rules_are_held_against_the_columns_that_were_learned(said, problem):
    rules, known = read_rules(said), [*ROLES, "note"]
    if not problem:
        rules.check(ROLES, known, context=False)
        return
    with pytest.raises(UserError) as error:
        rules.check(ROLES, known, context=False)
    assert str(error.value).startswith(f"rules: {problem}")


def test_units_of_the_last_place_are_refused_of_what_is_judged_in_a_context():
    places, plain = (read_rules({"weight": {"tolerance": said}}) for said in ("1 ulp", 1))
    places.check(ROLES, ROLES, context=False)
    plain.check(ROLES, ROLES, context=True)
    with pytest.raises(UserError, match="a tolerance in units of the last place"):
        places.check(ROLES, ROLES, context=True)


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
    for said, widths in (
        (0, [0.0, 0.0]),
        (0.5, [0.5, 0.5]),
        ("2%", [4.0, 0.2]),
        ("3 ulp", [0.03, 0.03]),
    ):
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
        ({"w": 5}, "w: 5 is not a mapping such as"),
        ({"w": {"if": [{"min": 1}]}}, "w: if 1: it needs 'when'"),
        ({"w": {"if": {"when": {"a": 1}}}}, "w: if 1: it sets no limit"),
        ({"mute": "machine"}, "mute: 'machine' is not a condition such as machine = M17"),
        ({"mute": "a = b until someday"}, "mute: until 'someday' is not a day such as 2026-12-31"),
        ({"mute": [{"unless": 1}]}, "mute: there is no rule 'unless'"),
        ({"mute": [5]}, "mute: 5 is not a condition such as"),
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


def test_a_file_of_rules_has_at_most_a_megabyte(tmp_path):
    said, file = "[weight]\nmax = 5\n", tmp_path / "rules.toml"
    file.write_text(said + "#" * (2**20 - len(said)))
    assert load_rules(file) == {"weight": {"max": 5}}
    file.write_text(said + "#" * (2**20 - len(said) + 1))
    with pytest.raises(UserError, match="a file of rules has at most 1 MB"):
        load_rules(file)


def test_the_day_of_a_row_is_that_of_its_date_else_today(monkeypatch):
    monkeypatch.setattr("refold.decisions.rules.today", lambda: np.datetime64("2026-05-04"))
    seconds = np.array([0.0, 86_399.0, 86_400.0, np.nan])
    times = {
        "date": DateColumn(seconds, has_date=True, has_clock=True),
        "clock": DateColumn(seconds, has_date=False, has_clock=True),
        "number": NumberColumn(seconds),
    }
    rules, table = read_rules(None), Table(list(times), list(times.values()), 4)
    today = ["2026-05-04"] * 4
    for over in ([], ["clock"], ["number"]):
        assert rules.row_days(table, over).astype(str).tolist() == today
    days = rules.row_days(table, ["date"]).astype(str).tolist()
    assert days == ["1970-01-01", "1970-01-01", "1970-01-02", "1970-01-01"]
