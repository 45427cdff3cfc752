"""The document as a whole: what every model has, around what is particular to its kind."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from refold.modelfile import findings, parameters
from refold.modelfile.budget import MEMORY, MOST_BYTES, Budget
from refold.modelfile.errors import ModelFileError, TooLargeError
from refold.modelfile.fields import Field
from refold.modelfile.layout import laid_out
from refold.modelfile.text import LONG, Raw, check_sum, digest, parse

FORMAT, VERSION = "refold model", 4
# A table of more columns has no model file: their names alone would be too many.
MOST_FEATURES = 2**20

_ENVELOPE = ("format", "format_version", "refold_version", "created")
_COMMON = ("estimator", "n_features", "feature_names", "parameters", "noticed")
# Members that came with a version, and what they are when an older file is read.
Added = Mapping[int, Mapping[str, Any]]
_ADDED: Added = {2: {"noticed": []}}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class Kind(Protocol):
    """How one estimator is written and read: what its module offers."""

    @property
    def ESTIMATOR(self) -> type[Any]:
        """The class."""

    @property
    def MEMBERS(self) -> tuple[str, ...]:
        """The members of the document that belong to this kind, in their order."""

    @property
    def ADDED(self) -> Added:
        """The members that came with a version, by path, and what they are in an older file."""

    def written(self, model: Any) -> dict[str, Any]:
        """Return these members, ready to be laid out."""

    def least_memory(self, model: Any, n_features: int) -> int:
        """Return how many bytes the arrays of a model not yet fitted will take at least."""

    def read(self, members: dict[str, Field], model: Any) -> None:
        """Check these members and give them to a model that has its parameters and columns."""


Kinds = Mapping[str, Kind]


def to_bytes(model: Any, kinds: Kinds, refold_version: str) -> bytes:
    """Return the document of a fitted model; one that could not be read again is refused."""
    content = {
        "format": FORMAT,
        "format_version": VERSION,
        "refold_version": refold_version,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        **model_written(model, kinds),
    }
    try:
        body = laid_out(content).encode()
    except UnicodeEncodeError:
        raise ModelFileError(
            "a name holds half a surrogate pair, which is no character: rename the column",
            where="feature_names",
        ) from None
    raw = body.removesuffix(b"\n}") + f',\n  "sha256": "{digest(body)}"\n}}\n'.encode()
    if len(raw) > MOST_BYTES:
        raise ModelFileError(
            f"The model takes {len(raw) / 2**20:.0f} MB; a model file has at most "
            f"{MOST_BYTES >> 20}. Pickle it, or fit it on fewer columns or with fewer bins"
        )
    try:
        from_bytes(raw, kinds)
    except TooLargeError as error:
        problem = (
            f"the model cannot be saved, reading it would take more memory than the "
            f"{MEMORY >> 20} MB that a file may. Pickle it, or leave out columns, of a Detector "
            "those with very many different texts"
        )
        raise ModelFileError(problem, where=error.where) from None
    except ModelFileError as error:
        problem = f"the model cannot be saved, its file would be refused: {error.problem}"
        raise ModelFileError(problem, where=error.where) from None
    return raw


def model_written(model: Any, kinds: Kinds) -> dict[str, Any]:
    """Return a model as the document has it; it may be one inside another."""
    kind = next(name for name, kind in kinds.items() if type(model) is kind.ESTIMATOR)
    names = getattr(model, "feature_names_in_", None)
    return {
        "estimator": kind,
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else _names_written(names),
        "parameters": parameters.written(model),
        "noticed": findings.written(model.noticed_),
        **kinds[kind].written(model),
    }


def _names_written(names: Sequence[str]) -> list[str]:
    for number, name in enumerate(names):
        if len(json.dumps(name)) > LONG // 2:
            raise ModelFileError(
                f"the name has {len(name)} characters; rename the column",
                where=f"feature_names[{number}]",
            )
    return [str(name) for name in names]


class Origin(NamedTuple):
    """When a model was saved, and by which version of refold."""

    created: str
    refold_version: str


def from_bytes(raw: Raw, kinds: Kinds) -> Any:
    """Return the model that a document describes."""
    return read(raw, kinds)[0]


def read(raw: Raw, kinds: Kinds) -> tuple[Any, Origin]:
    """Return the model that a document describes, and where it comes from."""
    budget = Budget()
    document = Field(parse(raw, budget), "", budget)
    kind = kinds[_envelope(document, kinds)]
    for added in (_ADDED, kind.ADDED):
        _upgrade(document, added, document.value["format_version"])
    members = _members(document, *_ENVELOPE, *_COMMON, *kind.MEMBERS, "sha256")
    check_sum(raw, members["sha256"].text())
    origin = _read_origin(members["refold_version"], members["created"])
    return _read_model(members, kind), origin


def read_inside(field: Field, kinds: Kinds, version: int) -> Any:
    """Return a model inside another, as `model_written` of a version of the format wrote it."""
    field.object()
    if "estimator" not in field.value:
        field.refuse("lacks the member 'estimator'")
    kind = kinds[field.member("estimator").text(kinds)]
    for added in (_ADDED, kind.ADDED):
        _upgrade(field, added, version)
    return _read_model(_members(field, *_COMMON, *kind.MEMBERS), kind)


def _members(field: Field, *names: str) -> dict[str, Field]:
    return dict(zip(names, field.members(*names), strict=True))


def _read_model(members: dict[str, Field], kind: Kind) -> Any:
    model = kind.ESTIMATOR(**parameters.read(members["parameters"], kind.ESTIMATOR))
    _read_columns(members["n_features"], members["feature_names"], model)
    kind.read(members, model)
    model.noticed_ = findings.read(members["noticed"])
    return model


def _envelope(document: Field, kinds: Kinds) -> str:
    """Return the kind of estimator, if this is a model file that this version can read."""
    document.object()
    for name in ("format", "format_version", "estimator"):
        if name not in document.value:
            document.refuse(f"This is not a model file: it has no {name!r}")
    document.member("format").text((FORMAT,))
    version = document.member("format_version")
    if version.integer(1) > VERSION:
        version.refuse(
            f"is {version.value}; this version of refold reads {VERSION}. Use a newer one"
        )
    return document.member("estimator").text(kinds)


def _upgrade(document: Field, added: Added, version: int) -> None:
    """Give a document of an older version the members that it lacks: the model is the same."""
    newer = [members for since, members in added.items() if since > version]
    for path, value in (member for members in newer for member in members.items()):
        *parents, name = path.split(".")
        parent = document.value
        for step in parents:
            parent = parent.get(step) if isinstance(parent, dict) else None
        if not isinstance(parent, dict):
            continue  # null, or refused where it is read
        if name in parent:
            document.refuse(f"Version {version} has no {path!r}")
        parent[name] = value


def _read_origin(version: Field, created: Field) -> Origin:
    return Origin(read_time(created), version.text())


def read_time(field: Field) -> str:
    """Return a checked time, UTC, to the second."""
    if not _TIME.fullmatch(field.text()):
        field.refuse("must be a time such as 2026-01-31T12:00:00Z")
    try:
        datetime.fromisoformat(field.text())
    except ValueError as error:
        field.refuse(f"is no time: {error}")
    return field.text()


def _read_columns(n_features: Field, names: Field, model: BaseEstimator) -> None:
    model.n_features_in_ = n_features.integer(1, MOST_FEATURES)
    if names.is_null():
        return
    read = [name.text() for name in names.items(model.n_features_in_)]
    first: dict[str, int] = {}
    for number, name in enumerate(read):
        if first.setdefault(name, number) != number:
            names.at(number).refuse(f"{name[:60]!r} is also the name of column {first[name]}")
    model.feature_names_in_ = np.array(read, dtype=object)
