"""The log: a line of JSON for each request, and for what else happens."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

Log = Callable[[dict[str, Any]], None]


def log_lines(entry: dict[str, Any]) -> None:
    """Write an entry of the log: a line of JSON on standard error."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    if entry["event"] == "request":
        asked = _asked(entry["method"], entry["path"], entry["status"], entry["model"])
        rows = "null" if entry["rows"] is None else entry["rows"]
        written = f'{asked}, "rows": {rows}, "ms": {entry["ms"]!r}'
    else:
        written = json.dumps(entry)[1:-1]
    sys.stderr.write(f'{{"time": "{now}", {written}}}\n')
    sys.stderr.flush()


@lru_cache(maxsize=256)  # the same is asked again and again; to write it takes longer than the rest
def _asked(method: str, path: str, status: int, model: str | None) -> str:
    same = {"event": "request", "method": method, "path": path, "status": status, "model": model}
    return json.dumps(same)[1:-1]
