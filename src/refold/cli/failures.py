"""What happens when a command fails: whatever it was, a sentence and exit code 2."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer

from refold.base.errors import SHOW_TRACEBACK, UserError, sentence_of
from refold.base.files import blaming
from refold.cli.options import say
from refold.cli.roles import as_option

FAILED = 2
_KINDS = {"int": "a whole number", "float": "a number"}
_INTERRUPTED = 128 + signal.SIGINT
# What a shell reports of a program that nobody listens to any more.
_BROKEN_PIPE = 128 + getattr(signal, "SIGPIPE", 13)


def exit_code(run: Callable[[], object]) -> int:
    """Run a command, and tell in a sentence why it failed if it did."""
    try:
        _prepare_streams()
        code = _code_of(run)
        with blaming("standard output"):
            sys.stdout.flush()
    except BrokenPipeError:
        code = _BROKEN_PIPE
    except SystemExit as left:  # told to end by a signal; or rich, with 1, if nobody reads
        code = _BROKEN_PIPE if left.code == 1 else int(left.code or 0)
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except Exception as error:
        code = FAILED
        with suppress(OSError):  # nobody can be told
            _tell(error)
    _leave_streams()
    return code


@contextmanager
def as_bad_input(name: str) -> Iterator[None]:
    """Let a refusal by the library, such as a rate that needs more rows, be one of a file."""
    from refold.tabular import InputError

    try:
        yield
    except InputError:  # it says itself which file it is
        raise
    except UserError as error:
        raise error.about(name) from error
    except (ValueError, TypeError) as error:
        raise UserError(f"{name}: {error}") from error


def _code_of(run: Callable[[], object]) -> int:
    try:
        run()
    except typer.Exit as left:
        return left.exit_code
    return 0


def _tell(error: Exception) -> None:
    if os.environ.get(SHOW_TRACEBACK):
        import traceback

        traceback.print_exception(error)
    said = " ".join(_sentence(error).split("\n"))  # one line: no name can forge another
    if said:
        say(f"Error: {said}" if said.endswith((".", "!", "?")) else f"Error: {said}.", err=True)
    context = getattr(error, "ctx", None)
    if said and context is not None:
        say(f"{context.command_path} --help says more.", err=True)


def _sentence(error: Exception) -> str:
    if hasattr(error, "format_message"):  # typer's; the class it comes from has moved over time
        _reword(error)
        return " ".join(str(error.format_message()).split())
    return sentence_of(error, as_option)


def _reword(error: Any) -> None:
    """Say what is wrong with the value of an option without the words of what has parsed it."""
    for found in getattr(error.__cause__, "errors", list)():
        given, kind = repr(found["input"]), _KINDS.get(found["type"].partition("_")[0])
        error.message = found["msg"].removeprefix("Value error, ").replace("Input", given)
        if kind is not None:
            error.message = f"{given} is not {kind}."


def _prepare_streams() -> None:
    """See that the three streams are there and take any text.

    A closed one is given a place, or the next file to be opened would become it.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115 - as long as the process
    closed = sys.stdout is None
    if closed:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if closed:
        raise UserError("Standard output is closed; send it to a file or to /dev/null.")


def _leave_streams() -> None:
    """Let Python's own flush at its end go nowhere where it would fail, and change the code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
