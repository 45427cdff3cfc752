"""What happens when a command fails: bad input is a sentence and exit code 2, a bug a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

BAD_INPUT = 2
# What a shell reports of a program that nobody listens to any more.
_BROKEN_PIPE = 128 + getattr(signal, "SIGPIPE", 13)


class Commands(TyperGroup):
    """The commands; what they raise because of the user's input is told in a sentence."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _leave_output()
            raise typer.Exit(_BROKEN_PIPE) from None
        except (ValueError, OSError) as error:
            said = _sentence(error)
            if said is None:
                raise
            typer.echo(f"Error: {said}", err=True)
            raise typer.Exit(BAD_INPUT) from None
        return done


@contextmanager
def as_bad_input(table: str) -> Iterator[None]:
    """Let a refusal by the library, such as a rate that needs more rows, be one of the table."""
    from refold.tabular import InputError

    try:
        yield
    except ValueError as error:
        raise InputError(f"{table}: {error}") from None


def _sentence(error: Exception) -> str | None:
    """Return what to tell about an error that the user's input has caused; None for others."""
    if isinstance(error, OSError):
        return None if error.filename is None else f"{error.filename}: {error.strerror}."
    from refold.studies.download import DataError
    from refold.tabular import InputError

    if isinstance(error, InputError | DataError):
        return str(error)
    from refold import ModelFileError  # later, because it imports scikit-learn

    return f"{error}." if isinstance(error, ModelFileError) else None


def _leave_output() -> None:
    """Let Python's own flush at its end go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
