"""What an example of the gallery must not do: ask a network, or leave a file beside it."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

_connect = socket.socket.connect
_before: set[Path] = set()


def check(gallery_conf: dict[str, Any], file: str, when: str) -> None:
    """Keep an example from the network while it runs, and look at its folder afterwards."""
    if when == "before":
        socket.socket.connect = _refuse  # type: ignore[method-assign,assignment]
        _before.clear()
        _before.update(Path.cwd().iterdir())
        return
    socket.socket.connect = _connect  # type: ignore[method-assign]
    if left := set(Path.cwd().iterdir()) - _before:
        raise ValueError(f"{file} leaves {', '.join(sorted(path.name for path in left))} behind")


def _refuse(*_: object) -> None:
    raise OSError("an example must not need a network")
