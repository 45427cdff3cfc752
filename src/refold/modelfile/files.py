"""Model files on the disk: saved whole or not at all, loaded in bounded memory."""

from __future__ import annotations

import os
import stat
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from refold.base.files import replacing
from refold.modelfile.budget import MOST_BYTES
from refold.modelfile.document import from_bytes, to_bytes
from refold.modelfile.errors import ModelFileError
from refold.modelfile.kinds import KINDS


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file that people can read and that loads without running code.

    The file is one JSON document; ``docs/modelfile.md`` describes it. It is written beside `path`
    and takes its name when it is complete.

    Parameters
    ----------
    model : REF or CreasedREF
        A fitted model. The file of a CreasedREF holds up to 10,000 training rows.
        Functions as `fold` or `distance` cannot be written.
    path : str or path-like
        Where to write; by convention the name ends in ``.json``. A file that is there is replaced.

    See Also
    --------
    load : Read the model again.

    Examples
    --------
    >>> import os, tempfile
    >>> import refold
    >>> model = refold.REF().fit([[20.1, 5.0], [19.8, 5.1], [20.3, 4.9], [20.0, 5.2]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "parts.json")
    ...     refold.save(model, path)
    ...     again = refold.load(path)
    >>> again.predict([[20.2, 5.0], [35.0, 5.0]])
    array([ 1, -1])
    """
    kind = next((name for name, kind in KINDS.items() if type(model) is kind.ESTIMATOR), None)
    if kind is None:
        raise TypeError(
            f"refold.save writes {', '.join(KINDS)}, not {type(model).__name__}. Save the model of "
            "a pipeline by itself, or use pickle or skops for the whole."
        )
    check_is_fitted(model)
    content = to_bytes(model, kind, version("refold"))
    with replacing(Path(path)) as file:
        file.write(content)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` has written.

    No code runs, whatever the file holds, and it takes less than 100 MB. Everything is checked:
    types, lengths, ranges and the checksum of the content.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    REF or CreasedREF
        The same model: the same bits from every method, and it goes on learning if it could.

    Raises
    ------
    ModelFileError
        If it is not a model file, or not as it was written; the message has the path of the field.

    See Also
    --------
    save : Write a model.
    """
    try:
        return from_bytes(_content(Path(path)))
    except ModelFileError as error:
        raise error.in_file(os.fspath(path)) from None


def _content(path: Path) -> bytearray:
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
