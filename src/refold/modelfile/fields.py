"""A value of the document, its path, and what it has to be."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import isfinite
from typing import Any, NoReturn

from refold.modelfile.errors import ModelFileError
from refold.modelfile.json_text import Budget, LongString, Refused

LARGEST_INTEGER = 2**63 - 1
_EXACT = 2**53  # whole numbers up to here are doubles too


class Field:
    """A value with its path, such as ``chain.shifts[3]``; every method refuses what it is not."""

    __slots__ = ("budget", "path", "value")

    def __init__(self, value: Any, path: str, budget: Budget) -> None:
        self.value, self.path, self.budget = value, path, budget

    def refuse(self, problem: str) -> NoReturn:
        """Refuse the file because of this field."""
        raise ModelFileError(problem, where=self.path)

    def members(self, *names: str) -> Iterator[Field]:
        """Return the members of an object that has these and no others."""
        self.object()
        if self.value.keys() != set(names):
            for name in self.value:
                if name not in names:
                    self.refuse(f"has the unknown member {_shown(name)}")
            for name in names:
                if name not in self.value:
                    self.refuse(f"lacks the member {name!r}")
        return map(self.member, names)

    def object(self) -> None:
        """Refuse anything but an object."""
        if type(self.value) is not dict:
            self._refuse_type("an object")

    def entries(self) -> Iterator[tuple[str, Field]]:
        """Return the members of an object whose names are data, with these names."""
        self.object()
        for name, value in self.value.items():
            entry = Field(value, f"{self.path}[{_shown(name)}]", self.budget)
            yield Field(name, entry.path, self.budget).text(), entry

    def member(self, name: str) -> Field:
        """Return one member of an object."""
        return Field(self.value[name], f"{self.path}.{name}" if self.path else name, self.budget)

    def items(self, length: int | None = None) -> Iterator[Field]:
        """Return the items of a list, of this length if one is given."""
        if type(self.value) is not list:
            self._refuse_type("a list")
        if length is not None and len(self.value) != length:
            self.refuse(f"has {len(self.value)} items where {length} are expected")
        return (self.item(number) for number in range(len(self.value)))

    def item(self, number: int) -> Field:
        """Return one item of a list."""
        return Field(self.value[number], f"{self.path}[{number}]", self.budget)

    def at(self, *numbers: int) -> Field:
        """Return the place of a number in an array, for an error; the array may be encoded."""
        return Field(None, self.path + "".join(f"[{n}]" for n in numbers), self.budget)

    def is_null(self) -> bool:
        """Whether there is nothing."""
        return self.value is None

    def boolean(self) -> bool:
        """Return true or false."""
        if type(self.value) is not bool:
            self._refuse_type("true or false")
        return bool(self.value)

    def text(self, choices: Collection[str] | None = None) -> str:
        """Return a text, one of `choices`."""
        if type(self.value) is not str:
            self._refuse_type("a text")
        if not self.value.isascii():
            self._check_encodable()
        if choices is not None and self.value not in choices:
            self.refuse(f"must be one of {sorted(choices)}, not {_shown(self.value)}")
        return str(self.value)

    def integer(self, least: int = -LARGEST_INTEGER, most: int = LARGEST_INTEGER) -> int:
        """Return a whole number within bounds."""
        if type(self.value) is not int:
            self._refuse_type("a whole number")
        if not least <= self.value <= most:
            self.refuse(f"must be a whole number from {least} to {most}, not {self.value}")
        return int(self.value)

    def number(self) -> float:
        """Return a finite number; a whole one stays whole."""
        if type(self.value) not in (int, float):
            self._refuse_type("a number")
        if type(self.value) is int and abs(self.value) > _EXACT:
            self.refuse(f"{self.value} is not a number that a double can hold exactly")
        if not isfinite(self.value):
            self.refuse("the number is too large")
        value: float = self.value
        return value

    def positive(self) -> float:
        """Return a finite number above zero."""
        value = self.number()
        if value <= 0.0:
            self.refuse(f"must be above 0, not {value!r}")
        return value

    def _check_encodable(self) -> None:
        try:
            self.value.encode()
        except UnicodeEncodeError:
            self.refuse("holds half a surrogate pair, which is not a character")

    def _refuse_type(self, wanted: str) -> NoReturn:
        if isinstance(self.value, Refused):
            self.refuse(self.value.problem)
        self.refuse(f"must be {wanted}, not {_kind(self.value)}")


def _kind(value: object) -> str:
    """Name a value's type as JSON does."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return f"the number {value!r}"
    if isinstance(value, LongString):
        return "a long text"
    return (
        "a text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
    )


def _shown(text: str) -> str:
    """Quote a text, but no more of it than a message can take."""
    return repr(text if len(text) <= 60 else text[:60] + "…")
