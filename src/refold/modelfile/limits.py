"""How large a model file may be, and how much memory it may make its reader use."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from refold.modelfile.errors import ModelFileError, TooLargeError

# A larger file is refused unread.
MOST_BYTES = 64 * 2**20
# What a file, what is made of its text and the arrays in it may take together. Python's own
# overhead and passing copies stay below what is missing to 220 MB.
MEMORY = 200 * 2**20
# With its arrays a large file may take so many times its size; one of 2,000 columns takes ten.
_TIMES = 12
MOST_MEMORY = _TIMES * MOST_BYTES


def memory_for(size: int) -> int:
    """Return how much memory reading a file of so many bytes may take.

    Examples
    --------
    >>> from refold.modelfile.limits import memory_for
    >>> memory_for(2**20) >> 20, memory_for(40 * 2**20) >> 20
    (200, 480)
    """
    return max(MEMORY, _TIMES * size)


class Budget:
    """Memory that is charged before it is used."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._memory = self._left = memory

    def allow(self, memory: int) -> None:
        """Let it take so much altogether from now on."""
        self._left += memory - self._memory
        self._memory = memory

    @property
    def used(self) -> int:
        """How many bytes have been charged."""
        return self._memory - self._left

    def has(self, n_bytes: int) -> bool:
        """Whether so much is left."""
        return n_bytes <= self._left

    def charge(self, n_bytes: int, what: str, where: str = "") -> None:
        """Refuse the file if it would take more than is left."""
        self._left -= n_bytes
        if self._left < 0:
            raise TooLargeError(
                f"{what} would need more memory than the {self._memory >> 20} MB that such a file "
                "may take; no file that refold writes does",
                where=where,
            )


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
