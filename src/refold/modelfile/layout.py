"""From what a model is made of to the text of a file that people can read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from refold.modelfile import arrays
from refold.modelfile.errors import ModelFileError
from refold.modelfile.json_text import LONG, Budget

_STEP = "  "
# What is shorter stands in one line.
_LINE = 100
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def to_json(value: Any, budget: Budget) -> str:
    """Return JSON, short objects and lists in one line, others with a line for each member.

    NumPy arrays, and texts too many to read, become bytes: see :mod:`refold.modelfile.arrays`.
    What could not be read again is refused; `budget` is charged what reading will take.

    >>> print(to_json({"name": "width", "counts": {"A": 3}, "low": np.zeros(2)}, Budget()))
    {
      "name": "width",
      "counts": {"A": 3},
      "low": {"dtype": "int8", "shape": [2], "zlib": "..."}
    }
    """
    return "".join(_pieces(value, budget, "", ""))


def _pieces(value: Any, budget: Budget, path: str, indent: str) -> list[str]:
    """Return the text of a value in pieces: long ones are put together once only."""
    inner = indent + _STEP
    match value:
        case np.ndarray() | arrays.NullableArray():
            return _packed(value, budget, path)
        case arrays.StringArray():
            return _pieces(_packed_texts(value.texts, budget, path), budget, path, indent)
        case dict() if value:
            members = [
                [
                    _text(key, path),
                    ": ",
                    *_pieces(v, budget, f"{path}.{key}" if path else key, inner),
                ]
                for key, v in value.items()
            ]
            return _block("{", members, "}", indent)
        case list() | tuple() if value:
            items = [_pieces(v, budget, f"{path}[{i}]", inner) for i, v in enumerate(value)]
            return _block("[", items, "]", indent)
        case str():
            return [_text(value, path)]
    try:
        return [_encode(value)]
    except ValueError:
        raise _unsaved(f"{value!r} is not a finite number", path) from None


def _block(opening: str, members: list[list[str]], closing: str, indent: str) -> list[str]:
    size = sum(len(piece) + 1 for member in members for piece in member)
    if size <= _LINE:
        lines = list(map("".join, members))
        if not any("\n" in line for line in lines):
            return [opening + ", ".join(lines) + closing]
    pieces, before = [opening], f"\n{indent}{_STEP}"
    for member in members:
        pieces += [before, *member]
        before = f",\n{indent}{_STEP}"
    return [*pieces, f"\n{indent}{closing}"]


def _text(value: str, path: str) -> str:
    text = _encode(value)
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise _unsaved(
            "a name holds half a surrogate pair, which is not a character: rename it", path
        ) from None
    if size > LONG:
        raise _unsaved(f"the text has {len(value)} characters; make it shorter", path)
    return text


def _packed_texts(texts: Sequence[str], budget: Budget, path: str) -> dict[str, Any]:
    packed = arrays.pack_texts(texts)
    ascii_only = bool((packed["utf8"] < 128).all())
    arrays.charge_texts(budget, len(texts), len(packed["utf8"]), ascii_only=ascii_only, where=path)
    return packed


def _packed(value: arrays.Array | arrays.NullableArray, budget: Budget, path: str) -> list[str]:
    if isinstance(value, arrays.NullableArray):
        array, fine = value.array, ~np.isinf(value.array)
    else:
        array, fine = value, np.isfinite(value)
    if not fine.all():
        at = tuple(np.argwhere(~fine)[0].tolist())
        place = path + "".join(f"[{i}]" for i in at)
        raise _unsaved(f"{array[at].item()!r} is not a finite number", place)
    arrays.charge(budget, array.shape, array.itemsize, path)
    packed = arrays.pack_array(array)
    head = f'{{"dtype": "{packed["dtype"]}", "shape": {packed["shape"]}, "zlib": "'
    return [head, packed["zlib"], '"}']


def _unsaved(problem: str, path: str) -> ModelFileError:
    return ModelFileError(f"the model cannot be saved: {problem}", where=path)
