"""The log: lines of JSON, for requests and for whatever else happens in the process."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

Log = Callable[[dict[str, Any]], None]


def log_lines(entry: dict[str, Any]) -> None:
    """Write an entry of the log: a line of JSON on standard error."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    sys.stderr.write(json.dumps({"time": now, **entry}) + "\n")
    sys.stderr.flush()


def places_of(error: BaseException) -> list[str]:
    """Return where an error happened; what it says may hold values of rows."""
    return [f"{each.name}:{each.lineno}" for each in traceback.extract_tb(error.__traceback__)]


class LibraryLog(logging.Handler):
    """Writes what libraries log, and Python's warnings, as entries of the log."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        entry: dict[str, Any] = {"event": "library", "level": record.levelname.lower()}
        entry |= {"logger": record.name, "message": record.getMessage()[:1000].strip()}
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            entry |= {"kind": type(error).__name__, "where": places_of(error)}
        self._log(entry)

    def install(self) -> None:
        """Take the place of all handlers of the process."""
        logging.captureWarnings(True)
        logging.getLogger().handlers[:] = [self]
        # Requests that are no HTTP are warnings there: they are counted and logged by us.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
