"""Which texts and numbers stand for a missing value, and how the cells of a source are written."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

import numpy as np

from refold._typing import Booleans, Floats

# Words for a missing value in files that people write, in small letters; spaces around them do not
# matter. The empty text is one everywhere.
MISSING_WORDS = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "-", "?"})
METADATA = b"refold.written"
_LONGEST = 64  # characters; no such word is longer
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


def is_missing(text: str) -> bool:
    """Whether a text in a file that people write says that there is no value."""
    return text.strip().lower() in MISSING_WORDS


def missing_word(text: str) -> str:
    """Return a word as it is compared: in small letters, without space around it."""
    return text.strip().lower()


@dataclass(frozen=True)
class SourceFormat:
    """How the texts of a table are written, as far as its source says so."""

    # decimal, thousands: The marks of its numbers, as the user says; "" is to be seen.
    decimal: str = ""
    thousands: str = ""
    likely: str = ""  # the decimal mark that its separators suggest, where no column shows another
    # missing, keep: Further words or numbers for missing values, and words that are values.
    missing: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    by_people: bool = False  # whether NA is a missing value: in text files and sheets

    @property
    def decimal_mark(self) -> str:
        """The decimal mark that was said, or that follows from the mark of thousands."""
        return self.decimal or {".": ",", ",": "."}.get(self.thousands, "")

    @property
    def words(self) -> frozenset[str]:
        """Words for missing values in every column."""
        known = MISSING_WORDS if self.by_people else frozenset({""})
        kept = set(map(missing_word, self.keep))
        return (known | set(map(missing_word, self.missing))) - kept | {""}

    def metadata(self) -> dict[bytes, bytes]:
        """Return it as the metadata of an Arrow schema."""
        return {METADATA: json.dumps(asdict(self)).encode()} if self != type(self)() else {}

    @classmethod
    def of_metadata(cls, metadata: Mapping[bytes, bytes] | None) -> SourceFormat:
        """Return what `metadata` wrote; nothing is known of a table from elsewhere."""
        try:
            said = json.loads((metadata or {})[METADATA])
            lists = {name: tuple(map(str, said[name])) for name in ("missing", "keep")}
            return replace(cls(), **{**said, **lists})
        except (KeyError, TypeError, ValueError):
            return cls()


IN_MEMORY = SourceFormat()


def masked_texts(values: Sequence[str], words: Collection[str]) -> Booleans:
    """Say which texts stand for a missing value: one of some words, or a number among them."""
    codes, plain = number_codes(words), frozenset(words)
    longest = _LONGEST if codes else max(map(len, plain), default=0)
    stripped = list(map(str.strip, values))
    found = np.fromiter(map(len, stripped), np.int64, len(stripped)) <= longest
    for k in np.flatnonzero(found).tolist():  # few of many texts are as short as such a word
        word = stripped[k].lower()
        found[k] = word in plain or _is_code(word, codes)
    return found


def masked_numbers(values: Floats, words: Collection[str]) -> Booleans:
    """Say which numbers stand for a missing value."""
    codes = number_codes(words)
    return np.isin(values, sorted(codes)) if codes else np.zeros(len(values), dtype=np.bool_)


def number_codes(words: Iterable[str]) -> frozenset[float]:
    """Return the numbers among words for missing values: -999 is also -999.0 and -999,00."""
    return _codes(frozenset(words))


@lru_cache(maxsize=256)
def _codes(words: frozenset[str]) -> frozenset[float]:
    return frozenset(float(word) for word in words if _NUMBER.fullmatch(word))


def _is_code(word: str, codes: frozenset[float]) -> bool:
    if not codes:
        return False
    word = word.replace(",", ".") if word.count(",") == 1 and "." not in word else word
    return bool(_NUMBER.fullmatch(word)) and float(word) in codes
