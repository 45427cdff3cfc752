"""Every public function and class says what is beside it, and has an example that runs.

That the names under See Also exist, the build of the site checks: a name that it does not find is a
warning, and a warning is an error. That examples run, pytest checks: it runs all docstrings.
"""

import importlib
import inspect

import pytest
from numpydoc.docscrape import NumpyDocString

from tests.test_architecture import public_names


def public_things():
    """Return functions and classes by their names; values such as types of others aside."""
    lines = [line.partition("(")[0] for line in public_names()]
    names = [name for name in lines if name.rpartition(".")[0] not in lines]
    things = {name: getattr(importlib.import_module(room_of(name)), own(name)) for name in names}
    return {
        name: thing
        for name, thing in things.items()
        if inspect.isclass(thing) or inspect.isfunction(thing)
    }


def room_of(name):
    return name.rpartition(".")[0]


def own(name):
    return name.rpartition(".")[2]


THINGS = public_things()


@pytest.mark.parametrize("name", THINGS)
def test_a_public_name_has_neighbours_and_an_example(name):
    text = NumpyDocString(inspect.getdoc(THINGS[name]) or "")
    assert text["Summary"], "no summary"
    assert text["See Also"], "no See Also"
    assert any(line.startswith(">>>") for line in text["Examples"]), "no example"


def test_no_public_room_is_left_out():
    assert {room_of(name) for name in THINGS} >= {"refold", "refold.drift", "refold.scale.spark"}
    assert len(THINGS) > 100
