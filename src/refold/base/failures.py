"""What to tell people of an error, whatever it was."""

from __future__ import annotations

import csv
import os
import sys

from refold.base.advice import Setting, in_python
from refold.base.errors import UserError

SHOW_TRACEBACK = "REFOLD_TRACEBACK"
# What Python says where there is no room for a thread.
_NO_THREAD = "can't start new thread"


def sentence_of(error: Exception, setting: Setting = in_python) -> str:
    """Return what to tell about an error; what no user can have caused is called a bug.

    `setting` says how a surface sets what is advised.

    Examples
    --------
    >>> from refold.base.errors import UserError
    >>> from refold.base.failures import sentence_of
    >>> sentence_of(UserError("parts.csv has no columns."))
    'parts.csv has no columns.'
    """
    if isinstance(error, UserError):
        return error.render(setting)
    if isinstance(error, ImportError):
        return str(error)
    if isinstance(error, OSError):
        return f"{_what_failed(error)}: {error.strerror or error}"
    if isinstance(error, MemoryError) or _NO_THREAD in str(error):
        return f"There is not enough memory for this. {error}".strip()
    if isinstance(error, _table_errors()):
        return f"The table cannot be read: {' '.join(str(error).split())}"
    return (
        f"This is a bug in refold ({type(error).__name__}: {error}). Please report it; with "
        f"{SHOW_TRACEBACK}=1 in the environment, the command shows where it happened."
    )


def _what_failed(error: OSError) -> str:
    name = error.filename
    if name is None:
        return "Reading or writing failed"
    return str(name) if isinstance(name, int) else os.fsdecode(name)


def _table_errors() -> tuple[type[Exception], ...]:
    """Return what the readers of tables raise; Arrow is not imported for that."""
    arrow = sys.modules.get("pyarrow")
    return (csv.Error,) if arrow is None else (csv.Error, arrow.ArrowException)
