"""Errors travel between processes with every letter of what they say."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import refold
from refold.base import errors
from refold.base.errors import TableError, UserError
from refold.modelfile import ModelFileError
from refold.service.errors import RequestError
from refold.tabular._cell_text import BadCellError
from refold.tabular.csv_dialect import QuoteError

HOSTILE = [
    "{",
    "}{",
    "{where}",
    "{0.__class__}",
    "a'b\"c",
    "line\nfeed\r",
    "100 %s %(x)d",
    "\x1b[2J",
    "🙂é\u202e",
    "\\u007b",
    "",
]

# How to make those that take more than what they say.
MADE = {
    TableError: lambda text: TableError(
        "{where} is bad: " + text, row=3, column=1, names=["a", text]
    ),
    ModelFileError: lambda text: ModelFileError(text, where=f"chain.{text}[3]", file=text),
    BadCellError: lambda text: BadCellError(3, text),
    QuoteError: lambda text: QuoteError(text, unclosed=True),
    RequestError: lambda text: RequestError(413, text, row=3, column=text),
}


def exceptions():
    """Return every class of errors in the package."""
    for module in pkgutil.walk_packages(refold.__path__, "refold."):
        try:
            importlib.import_module(module.name)
        except ImportError:  # an extra that is not here
            continue

    def below(base):
        for kind in base.__subclasses__():
            yield kind
            yield from below(kind)

    ours = {kind for kind in below(BaseException) if kind.__module__.startswith("refold.")}
    return sorted(ours, key=lambda kind: kind.__qualname__)


def test_every_error_survives_pickle_and_copies():
    found = exceptions()
    assert {TableError, ModelFileError, BadCellError} < set(found)
    for kind in found:
        for text in HOSTILE:
            error = MADE.get(kind, kind)(text)
            again = [pickle.loads(pickle.dumps(error, protocol)) for protocol in range(6)]
            for other in [*again, copy.copy(error), copy.deepcopy(error)]:
                assert type(other) is kind
                assert str(other) == str(error)
                assert text in str(other) or repr(text) in str(other)
                assert vars(other) == vars(error)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_table_error_says_what_the_user_has_written(text):
    error = errors.not_a_number(2, 1, text)
    assert str(error).startswith(f"row 2, column 'x1' holds {text!r}, not a number.")
    named = error.named(["a", text])
    assert str(named).startswith(f"row 2, column {text!r} holds {text!r}, not a number.")
    assert str(errors.infinite(0, 1).named(["a", text])) == (
        f"Input X contains infinity: row 0, column {text!r}. Only finite numbers and NaN (a "
        "missing value) can be used; replace it or mark it as missing."
    )


def _fails(text):
    raise errors.not_a_number(2, 0, text).named([text])


def test_a_pool_of_processes_hands_the_error_on():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.raises(TableError) as caught:
            pool.submit(_fails, "{torque} [Nm]").result(timeout=120)
        assert pool.submit(len, "still at work").result(timeout=120) == 13
    assert "column '{torque} [Nm]' holds '{torque} [Nm]'" in str(caught.value)


def test_errors_of_the_user_are_value_errors():
    for kind in (TableError, ModelFileError, refold.tabular.InputError):
        assert issubclass(kind, UserError)
        assert issubclass(kind, ValueError)
