"""The bytes of a file, if they are few enough."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from refold.modelfile.budget import MOST_BYTES
from refold.modelfile.errors import ModelFileError


def content_of(path: Path) -> bytearray:
    """Return a file's bytes; of one that is too large no more than is needed to know."""
    try:
        file = path.open("rb", buffering=0)
    except IsADirectoryError:
        raise ModelFileError("This is a folder, not a model file") from None
    with file:
        info = os.fstat(file.fileno())
        known = stat.S_ISREG(info.st_mode) and info.st_size > 0  # a pipe does not say how long
        if known and info.st_size > MOST_BYTES:
            _refuse_size()
        content = bytearray((info.st_size if known else MOST_BYTES) + 1)
        filled = 0
        with memoryview(content) as room:
            while count := file.readinto(room[filled:]):
                filled += count
    if filled == len(content):
        _refuse_size()
    del content[filled:]
    return content


def _refuse_size() -> None:
    raise ModelFileError(
        f"The file has more than {MOST_BYTES >> 20} MB; no model file that refold writes has"
    )
