"""Files that are either whole or not there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(out: Path) -> Iterator[IO[bytes]]:
    """Give a file to write to; it takes its name when it is complete and on the disk.

    It is written beside `out`, under a hidden name that no reader of a folder takes for data. An
    error removes it and leaves what `out` was before.
    """
    part = out.with_name(f".{out.name}.{secrets.token_hex(4)}.part")
    with blaming(out):
        try:
            with part.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, out)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        _sync_folder(out.parent)


@contextmanager
def blaming(name: str | Path) -> Iterator[None]:
    """Let an error of the system say which file it is about, if it does not."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(name)) from error


def _sync_folder(folder: Path) -> None:
    """Put the new name on the disk too; not every system can open a folder."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
