"""How much memory a file may make its reader use."""

from __future__ import annotations

from refold.modelfile.errors import TooLargeError

# A larger file is refused unread.
MOST_BYTES = 64 * 2**20
# What a file, what is made of its text and the arrays in it may take together. Python's own
# overhead and passing copies stay below what is missing to 220 MB.
MEMORY = 200 * 2**20


class Budget:
    """Memory that is charged before it is used."""

    def __init__(self) -> None:
        self._left = MEMORY

    def has(self, n_bytes: int) -> bool:
        """Whether so much is left."""
        return n_bytes <= self._left

    def charge(self, n_bytes: int, what: str, where: str = "") -> None:
        """Refuse the file if it would take more than is left."""
        self._left -= n_bytes
        if self._left < 0:
            raise TooLargeError(
                f"{what} would need more memory than the {MEMORY >> 20} MB that a model file may "
                "take; no file that refold writes does",
                where=where,
            )
