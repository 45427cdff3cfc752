"""Files that are either whole or not there."""

from __future__ import annotations

import os
import secrets
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO

_MOST_LINKS = 40  # as many as Linux follows


@contextmanager
def replacing(out: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Give a file to write to; it takes its name when it is complete and on the disk.

    Until then, and after an error, `out` is what it was before. A file that is replaced keeps its
    mode and, where that is allowed, its owner; only the owner may read a new one that is `private`.
    Links are followed. What is no regular file, such as a pipe, is written as it comes.
    """
    target = _behind_links(out)
    if target.is_symlink() or (target.exists() and not target.is_file()):
        with blaming(out), _opened(target) as file:
            yield file
        return
    # A hidden name, so that no reader of a folder takes it for data; a short one, so that it fits.
    part = target.with_name(f".refold-{secrets.token_hex(8)}.part")
    before = target.stat() if target.exists() else None
    mode = 0o600 if private or before else 0o666
    with blaming(out, part):
        try:
            with open(_created(part, mode), "wb") as file:
                if before:
                    _resemble(file.fileno(), before)
                with _unwinding() if part.exists() else nullcontext():
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                _give_name(file.fileno(), part)
            os.replace(part, target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)


def write_file(out: Path, content: bytes, *, private: bool = False) -> None:
    """Write a file as `replacing` does."""
    with replacing(out, private=private) as file:
        file.write(content)


@contextmanager
def blaming(name: str | Path, part: Path | None = None) -> Iterator[None]:
    """Let an error of the system be about a file, if it names none or only a part of it."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(part)):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(name)) from error


def _behind_links(out: Path) -> Path:
    """Return what a link leads to; those in /proc are open files, which have no name to take."""
    for _ in range(_MOST_LINKS):
        if not out.is_symlink() or os.path.realpath(out.parent).startswith("/proc/"):
            break
        out = out.parent / os.readlink(out)
    return out


def _opened(target: Path) -> IO[bytes]:
    """Open what is no regular file; one that is open already goes on where it is."""
    if os.path.realpath(target.parent) == f"/proc/{os.getpid()}/fd":
        return open(os.dup(int(target.name)), "wb")
    return target.open("wb")


def _created(part: Path, mode: int) -> int:
    """Create a file, without a name where that can be had: however we end, it is not left."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with suppress(OSError):  # not every file system can
            return os.open(part.parent, os.O_TMPFILE | os.O_WRONLY, mode)
    return os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), mode)


@contextmanager
def _unwinding() -> Iterator[None]:
    """Let a signal to end undo first what is under way, unless somebody has other plans for it."""
    ours = []
    if threading.current_thread() is threading.main_thread():
        ends = (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))
        ours = [number for number in ends if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _resemble(handle: int, before: os.stat_result) -> None:
    """Give a file the mode of the one before, and its group and owner if we may."""
    if os.name == "posix":  # pragma: no branch  # Windows has neither owner nor mode
        for owner in ((-1, before.st_gid), (before.st_uid, -1)):
            with suppress(PermissionError):
                os.fchown(handle, *owner)
        os.fchmod(handle, stat.S_IMODE(before.st_mode))


def _give_name(handle: int, part: Path) -> None:
    """Give a name to a file that was created without."""
    if os.fstat(handle).st_nlink == 0:
        folder = os.open(part.parent, os.O_RDONLY)
        try:
            # With a folder, Python calls linkat, which follows the link to the open file.
            os.link(f"/proc/self/fd/{handle}", part.name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            os.close(folder)


def _sync_folder(folder: Path) -> None:
    """Put the new name on the disk too; not every system can open a folder."""
    if os.name != "posix":  # pragma: no cover  # Windows opens no folder
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
