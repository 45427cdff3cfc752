"""Every public function and class says what it is, and has an example; pytest runs the examples."""

import importlib
import inspect

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


def test_public_names_have_a_summary_and_an_example():
    texts = {name: inspect.getdoc(thing) or "" for name, thing in THINGS.items()}
    assert [name for name, text in texts.items() if not text.partition("\n")[0]] == []
    assert [name for name, text in texts.items() if "\n>>> " not in text] == []


def test_no_public_room_is_left_out():
    assert {room_of(name) for name in THINGS} >= {
        "refold",
        "refold.monitoring",
        "refold.scale.spark",
    }
    assert len(THINGS) > 100
