"""Lists of texts as JSON: readable where they are few, compressed where they are many."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from refold.modelfile import arrays
from refold.modelfile.fields import Field

# More texts than this are written as bytes: a parser's memory for each is many times its length.
READABLE = 2**8
# What Python takes for a text and its place in a list, without its letters.
_OVERHEAD = 88


def written(texts: Sequence[str]) -> list[str] | dict[str, Any]:
    """Return texts as the document has them."""
    if len(texts) <= READABLE:
        return list(texts)
    pieces = [text.encode() for text in texts]
    return {
        "lengths": arrays.encoded(np.fromiter(map(len, pieces), np.int64, len(pieces))),
        "utf8": arrays.encoded(np.frombuffer(b"".join(pieces), np.uint8)),
    }


def read(field: Field, most: int) -> list[str]:
    """Return checked texts, no two of them the same."""
    texts = _decoded(field, most) if type(field.value) is dict else _listed(field, most)
    check_different(field, texts)
    return texts


def check_different(field: Field, texts: Sequence[str]) -> None:
    """Refuse a text that is there twice, by its place in a list."""
    first: dict[str, int] = {}
    for number, text in enumerate(texts):
        if first.setdefault(text, number) != number:
            field.at(number).refuse(f"{text[:60]!r} is item {first[text]} already")


def _listed(field: Field, most: int) -> list[str]:
    texts = [item.text() for item in field.items()]
    if len(texts) > most:
        field.refuse(f"must have at most {most} texts, not {len(texts)}")
    return texts


def _decoded(field: Field, most: int) -> list[str]:
    lengths, utf8 = field.members("lengths", "utf8")
    n = arrays.length_of(lengths, most)
    sizes, content = arrays.integers(lengths, n), arrays.octets(utf8)
    arrays.require(lengths, sizes, (sizes >= 0) & (sizes <= len(content)), "must fit into the text")
    ends = np.cumsum(sizes)
    if ends[-1] != len(content):
        lengths.refuse(f"must add up to the {len(content)} bytes of the text, not {ends[-1]}")
    wide = 1 if content.max() < 128 else 4  # bytes that Python takes for a letter
    field.budget.charge(n * _OVERHEAD + wide * len(content), "The texts", field.path)
    raw = content.tobytes()
    texts = []
    for number, (begin, end) in enumerate(pairwise([0, *ends.tolist()])):
        try:
            texts.append(raw[begin:end].decode())
        except UnicodeDecodeError:
            field.at(number).refuse("is not UTF-8 text")
    return texts
