"""Advice is data, and each surface renders it in its own words."""

from __future__ import annotations

import inspect
import pickle
import re
import shlex
from typing import get_args

import pytest
import typer
from typer.main import get_command

from refold import Detector, check
from refold.app.reading import as_control
from refold.base.advice import Advice, AdviceKind, in_python, in_words
from refold.base.errors import TableError, UserError
from refold.base.findings import Finding
from refold.cli import commands
from refold.cli.roles import as_option, roles_in
from refold.export import to_sql
from refold.scale import score
from refold.tabular import open_table

KINDS = [kind for kind in get_args(AdviceKind) if kind]
SYNTAX = re.compile(r"--\w|\w=|[{}\[\]]")


def advice_of(kind):
    if kind == "role":
        return Advice("If so", kind, column="when", role="ignore")
    return Advice("If so", kind, value=None if kind == "header" else "0.1")


def options():
    """Return every option of every command."""
    application = typer.Typer()
    for command in commands:
        application.command()(command)
    parameters = [p for each in get_command(application).commands.values() for p in each.params]
    return {option for parameter in parameters for option in parameter.opts}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_an_option_of_a_command(kind):
    assert as_option(advice_of(kind)).split()[0] in options()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_keyword_in_python(kind):
    known = {"bad_cells"}  # of commands alone
    for function in (Detector, open_table, score, to_sql):
        known |= set(inspect.signature(function).parameters)
    assert in_python(advice_of(kind)).partition("=")[0] in known


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("surface", [in_words, as_control])
def test_pages_show_no_syntax(kind, surface):
    for advice in (advice_of(kind), Advice(kind=kind, column="a", role="number")):
        assert not SYNTAX.search(advice.render(surface))


@pytest.mark.parametrize("name", ["when", "a,b", "a=b", 'say "x"', "it's", "Größe in °C"])
def test_a_role_that_is_advised_can_be_typed(name):
    import shlex

    option, value = shlex.split(as_option(Advice("", "role", column=name, role="ignore")))
    assert option == "--roles"
    assert roles_in(value) == {name: "ignore"}


@pytest.mark.parametrize("role", ["number:,", "date:%d.%m.%Y %H:%M", "date:%b %d, %Y", "text"])
def test_a_role_is_one_word_of_a_shell_and_read_again(role):
    option, value = shlex.split(as_option(Advice("", "role", column="when", role=role)))
    assert (option, roles_in(value)) == ("--roles", {"when": role})


def test_a_value_is_one_word_of_a_shell():
    assert as_option(Advice(kind="missing", value="not known")) == "--missing 'not known'"
    assert as_option(Advice(kind="alpha", value=0.05)) == "--alpha 0.05"


def test_errors_and_findings_say_it_in_the_words_of_the_surface():
    advice = Advice("To leave it out", "role", column="when", role="ignore")
    error = UserError("when holds lists.", advice=advice)
    assert str(error) == 'when holds lists. To leave it out: roles={"when": "ignore"}.'
    assert error.render(as_option) == "when holds lists. To leave it out: --roles when=ignore."
    assert error.about("t.csv").render(as_option).startswith("t.csv: when holds lists. To leave")
    found = Finding("identifier", "when", message="when names rows.", advice=advice)
    assert found.render(as_control) == (
        "when names rows. To leave it out: choose “leave out” for when."
    )
    assert found.about("day").advice.column == "day"


@pytest.mark.parametrize(
    "error",
    [
        UserError("Too long.", advice=Advice("Cut it.")),
        TableError("{where} is odd.", row=3, column=1, advice=Advice("Keep rows", "trim", value=0)),
    ],
)
def test_an_error_is_pickled_with_its_advice(error):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.advice) == (type(error), str(error), error.advice)


def test_a_column_that_names_rows_is_offered_as_such_on_every_surface():
    rows = [{"serial": f"Q{k * 7919 % 9973:04d}X", "heat": k % 11} for k in range(60)]
    (found,) = check(rows).of("identifier")
    assert str(found).endswith('To call rows by it, and not to learn it: id_column="serial".')
    assert found.render(as_option).endswith("--id-column serial.")
    assert found.render(in_words).endswith("choose column 'serial' as the one that names the rows.")
