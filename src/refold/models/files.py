"""Models on the disk: saved whole or not at all, loaded in bounded memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from refold.base.files import write_file
from refold.base.version import VERSION
from refold.modelfile import document
from refold.modelfile.errors import ModelFileError
from refold.modelfile.json_text import MOST_MEMORY, content_of
from refold.models import ref_file
from refold.models.creased import creased_file
from refold.models.detector import detector_file

# The estimators that have model files, under their names there: one module beside each.
KINDS: dict[str, document.Kind] = {
    "REF": ref_file,
    "CreasedREF": creased_file,
    "Detector": detector_file,
}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file that people can read and that loads without running code.

    The file is one JSON document; ``docs/modelfile.md`` describes it. It is written beside `path`
    and takes its name when it is complete.

    Parameters
    ----------
    model : Detector, REF or CreasedREF
        A fitted model. The file of a Detector or a CreasedREF holds up to 10,000 training rows.
        Functions as `fold` or `distance` cannot be written.
    path : str or path-like
        Where to write; by convention the name ends in ``.json``. A file that is there is replaced.

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
    if not any(type(model) is kind.ESTIMATOR for kind in KINDS.values()):
        raise TypeError(
            f"refold.save writes {', '.join(KINDS)}, not {type(model).__name__}. Save the model of "
            "a pipeline by itself, or use pickle or skops for the whole."
        )
    check_is_fitted(model)
    content = document.to_bytes(model, KINDS, VERSION)
    # A model that has kept training rows is not for everybody's eyes.
    write_file(Path(path), content, private=type(model) is not ref_file.ESTIMATOR)


def check_columns(model: Any, n_features: int) -> None:
    """Refuse to learn more columns than a model file can hold, before it is done in vain.

    Parameters
    ----------
    model : Detector, REF or CreasedREF
        A model that is to be fitted and saved.
    n_features : int
        How many columns it will have.

    Raises
    ------
    ModelFileError
        If its arrays alone would take more memory than :func:`load` may.
    """
    kind = next(kind for kind in KINDS.values() if type(model) is kind.ESTIMATOR)
    if kind.least_memory(model, n_features) > MOST_MEMORY:
        raise ModelFileError(
            f"A {type(model).__name__} of {n_features:,} columns is too large for a model file. "
            "Learn fewer columns, or pickle the model"
        )


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` has written.

    No code runs, whatever the file holds, and it takes less than 220 MB, or than 13 times its size
    if that is more. Everything is checked: types, lengths, ranges and the checksum of the content.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Detector, REF or CreasedREF
        The same model: the same bits from every method, and it goes on learning if it could.

    Raises
    ------
    ModelFileError
        If it is not a model file, or not as it was written; the message has the path of the field.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import refold
    >>> file = Path(tempfile.mkdtemp()) / "model.json"
    >>> refold.save(refold.REF().fit([[20.1, 5.0], [19.8, 5.1], [20.3, 4.9], [20.0, 5.2]]), file)
    >>> refold.load(file).predict([[20.2, 5.0], [35.0, 5.0]])
    array([ 1, -1])
    """
    return load_with_origin(path)[0]


def load_with_origin(path: str | os.PathLike[str]) -> tuple[Any, document.Origin]:
    """Read a model, and when it was saved and by which version, as :func:`load` does."""
    try:
        return document.read(content_of(Path(path)), KINDS)
    except ModelFileError as error:
        raise error.in_file(os.fspath(path)) from None
