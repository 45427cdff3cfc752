"""The kinds of estimators that a model file can hold: one module each, under its name in files.

A kind is a module with the estimator's class and two functions: ``written(model)`` returns what is
particular to it, ready to be laid out, and ``read(fields, model)`` checks that and gives it to a
model that has its parameters and columns. `MEMBERS` are the names of what it writes.
"""

from __future__ import annotations

from typing import Any, Protocol

from refold.modelfile.fields import Field
from refold.modelfile.kinds import creased, ref


class Kind(Protocol):
    """What a kind offers."""

    @property
    def ESTIMATOR(self) -> type[Any]:
        """The class."""

    @property
    def MEMBERS(self) -> tuple[str, ...]:
        """The members of the document that belong to this kind, in their order."""

    def written(self, model: Any) -> dict[str, Any]:
        """Return these members."""

    def read(self, members: dict[str, Field], model: Any) -> None:
        """Check these members and give them to the model."""


KINDS: dict[str, Kind] = {"REF": ref, "CreasedREF": creased}
