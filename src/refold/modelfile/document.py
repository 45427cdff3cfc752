"""The document as a whole: what every model has, around what is particular to its kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple, Protocol, cast, get_args

import numpy as np
from sklearn.base import BaseEstimator

from refold.base.advice import Advice, AdviceKind
from refold.base.findings import Finding, RowText
from refold.base.parameters import InvalidParameterError, check_parameter
from refold.modelfile import arrays
from refold.modelfile.errors import ModelFileError, TooLargeError
from refold.modelfile.fields import Field
from refold.modelfile.json_text import (
    MOST_BYTES,
    MOST_MEMORY,
    Budget,
    Raw,
    memory_for,
    parse_document,
    scan,
)
from refold.modelfile.layout import to_json

FORMAT, VERSION = "refold model", 1
# A table of more columns has no model file: their names alone would be too many.
MOST_FEATURES = 2**20

_ENVELOPE = ("format", "format_version", "refold_version", "created")
_COMMON = ("estimator", "n_features", "feature_names", "parameters", "noticed")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class Kind(Protocol):
    """How one estimator is written and read: what its module offers."""

    @property
    def ESTIMATOR(self) -> type[Any]:
        """The class."""

    @property
    def MEMBERS(self) -> tuple[str, ...]:
        """The members of the document that belong to this kind, in their order."""

    def written(self, model: Any, budget: Budget) -> dict[str, Any]:
        """Return these members, and charge what reading them takes beside text and arrays."""

    def least_memory(self, model: Any, n_features: int) -> int:
        """Return how many bytes the arrays of a model not yet fitted will take at least."""

    def read(self, members: dict[str, Field], model: Any) -> None:
        """Check these members and give them to a model that has its parameters and columns."""


Kinds = Mapping[str, Kind]


def to_bytes(model: Any, kinds: Kinds, refold_version: str) -> bytes:
    """Return the document of a fitted model; one that could not be read again is refused."""
    budget = Budget(MOST_MEMORY)
    try:
        members = model_written(model, kinds, budget)
        return sealed(FORMAT, members, budget, refold_version)
    except TooLargeError as error:
        raise ModelFileError(
            "the model cannot be saved, reading it would take more memory than a file may. Pickle "
            "it, or leave out columns, of a Detector those with very many different texts",
            where=error.where,
        ) from None


def sealed(kind: str, members: dict[str, Any], budget: Budget, refold_version: str) -> bytes:
    """Return a document with its envelope and checksum; one that is too large is refused."""
    content = {
        "format": kind,
        "format_version": VERSION,
        "refold_version": refold_version,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        **members,
    }
    body = to_json(content, budget).encode()
    text = Budget()
    checksum = scan(body, text).digest
    if budget.used + text.used > memory_for(len(body)):
        raise TooLargeError("reading it would take more memory than a file may")
    raw = body.removesuffix(b"\n}") + f',\n  "sha256": "{checksum}"\n}}\n'.encode()
    if len(raw) > MOST_BYTES:
        raise ModelFileError(
            f"The {kind.split()[-1]} takes {len(raw) / 2**20:.0f} MB; a file has at most "
            f"{MOST_BYTES >> 20}. Pickle it, or fit the model on fewer columns or with fewer bins"
        )
    return raw


def model_written(model: Any, kinds: Kinds, budget: Budget) -> dict[str, Any]:
    """Return a model as the document has it; it may be one inside another."""
    kind = next(name for name, kind in kinds.items() if type(model) is kind.ESTIMATOR)
    names = getattr(model, "feature_names_in_", None)
    return {
        "estimator": kind,
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else list(map(str, names)),
        "parameters": _parameters_written(model),
        "noticed": findings_written(model.noticed_),
        **kinds[kind].written(model, budget),
    }


class Origin(NamedTuple):
    """When a model was saved, and by which version of refold."""

    created: str
    refold_version: str


def from_bytes(raw: Raw, kinds: Kinds) -> Any:
    """Return the model that a document describes."""
    return read(raw, kinds)[0]


def read(raw: Raw, kinds: Kinds) -> tuple[Any, Origin]:
    """Return the model that a document describes, and where it comes from."""
    document, found = unsealed(raw, FORMAT)
    if "estimator" not in document.value:
        document.refuse("This is not a model file: it has no 'estimator'")
    kind = kinds[document.member("estimator").text(kinds)]
    members, origin = checked_members(document, found, *_COMMON, *kind.MEMBERS)
    return _read_model(members, kind), origin


def unsealed(raw: Raw, kind: str) -> tuple[Field, str]:
    """Return a document that this version can read, and the checksum of its content."""
    budget = Budget()
    values, found = parse_document(raw, budget)
    budget.allow(memory_for(len(raw)))
    document = Field(values, "", budget)
    document.object()
    for name in ("format", "format_version"):
        if name not in document.value:
            document.refuse(f"This is not a {kind.split()[-1]} file: it has no {name!r}")
    document.member("format").text((kind,))
    version = document.member("format_version")
    if version.integer(1) > VERSION:
        version.refuse(
            f"is {version.value}; this version of refold reads {VERSION}. Use a newer one"
        )
    return document, found


def checked_members(document: Field, found: str, *names: str) -> tuple[dict[str, Field], Origin]:
    """Return the members of a document that has these, once its checksum is right."""
    members = _members(document, *_ENVELOPE, *names, "sha256")
    if found != members["sha256"].text():
        members["sha256"].refuse(
            f"the content has the checksum {found}, the file says {members['sha256'].value}: it "
            "was damaged or edited"
        )
    return members, Origin(read_time(members["created"]), members["refold_version"].text())


def read_inside(field: Field, kinds: Kinds) -> Any:
    """Return a model inside another, as `model_written` wrote it."""
    field.object()
    if "estimator" not in field.value:
        field.refuse("lacks the member 'estimator'")
    kind = kinds[field.member("estimator").text(kinds)]
    return _read_model(_members(field, *_COMMON, *kind.MEMBERS), kind)


def _members(field: Field, *names: str) -> dict[str, Field]:
    return dict(zip(names, field.members(*names), strict=True))


def _read_model(members: dict[str, Field], kind: Kind) -> Any:
    model = kind.ESTIMATOR(**_read_parameters(members["parameters"], kind.ESTIMATOR))
    _read_columns(members["n_features"], members["feature_names"], model)
    kind.read(members, model)
    model.noticed_ = read_findings(members["noticed"])
    return model


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
    if not names.is_null():
        found = [name.text() for name in names.items(model.n_features_in_)]
        arrays.check_different(names, found)
        model.feature_names_in_ = np.array(found, dtype=object)


def _parameters_written(model: BaseEstimator) -> dict[str, Any]:
    estimator, values = type(model), {}
    for name, value in model.get_params(deep=False).items():
        plain = _plain_tree if name in _TREES else _plain
        values[name] = plain(value, f"parameters.{name}")
        _check_parameter(values[name], name, estimator, f"parameters.{name}")
    return values


# Parameters whose values may be nested.
_TREES = frozenset({"rules"})


def _plain_tree(value: object, path: str) -> Any:
    """Return a tree of mappings and lists as the document has it; dates as texts."""
    if isinstance(value, Mapping):
        return {str(key): _plain_tree(each, f"{path}.{key}") for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain_tree(each, path) for each in value]
    return _plain(value.isoformat() if isinstance(value, date) else value, path)


def _read_tree(field: Field) -> Any:
    if type(field.value) is dict:
        return {name: _read_tree(each) for name, each in field.entries()}
    if type(field.value) is list:
        return [_read_tree(each) for each in field.items()]
    return _parameter(field)


def _plain(value: object, path: str) -> Any:
    if isinstance(value, timedelta | np.timedelta64):
        value = f"{float(np.timedelta64(value) / np.timedelta64(1, 's'))!r}s"
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, Mapping) and all(type(v) is str for pair in value.items() for v in pair):
        return dict(value)
    if isinstance(value, list | tuple) and all(type(entry) is str for entry in value):
        return list(value)
    what = "a function" if callable(value) else f"a {type(value).__name__}"
    raise ModelFileError(
        f"{value!r} is {what}; a model file holds data only. Use a named choice, or pickle the "
        "model",
        where=path,
    )


def _read_parameters(field: Field, estimator: type[BaseEstimator]) -> dict[str, Any]:
    """Return checked parameters; those that an older file does not have take their defaults."""
    field.object()
    parameters = dict(vars(estimator()))  # a new one has its parameters and nothing else
    for name in field.value:
        if name not in parameters:
            field.refuse(
                f"has {name[:60]!r}, which {estimator.__name__} does not know; a newer version of "
                "refold may"
            )
        each = field.member(name)
        parameters[name] = _read_tree(each) if name in _TREES else _parameter(each)
        _check_parameter(parameters[name], name, estimator, each.path)
    return parameters


def _parameter(field: Field) -> Any:
    value = field.value
    if value is None or type(value) is bool:
        return value
    if type(value) is dict:
        return {name: entry.text() for name, entry in field.entries()}
    if type(value) is list:
        return [entry.text() for entry in field.items()]
    if type(value) is int:
        return field.integer()
    return field.text() if type(value) is str else field.number()


def _check_parameter(value: Any, name: str, estimator: type[BaseEstimator], path: str) -> None:
    constraints = estimator._parameter_constraints
    if isinstance(value, bool) and bool not in constraints[name]:
        raise ModelFileError(f"must not be {str(value).lower()}", where=path)
    try:
        check_parameter(estimator.__name__, constraints, name, value)
    except InvalidParameterError as error:
        raise ModelFileError(str(error), where=path) from None


def findings_written(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Return what was noticed as the document has it; a message that numbers rows in its parts."""
    return [
        {**asdict(finding), "message": list(finding.message.parts)}
        if isinstance(finding.message, RowText) and finding.message.is_numbered
        else asdict(finding)
        for finding in findings
    ]


def read_findings(field: Field) -> tuple[Finding, ...]:
    """Return checked findings."""
    return tuple(map(_finding, field.items()))


def _finding(field: Field) -> Finding:
    kind, column, rows, values, message, advice = field.members(
        "kind", "column", "rows", "values", "message", "advice"
    )
    return Finding(
        kind=kind.text(),
        column=None if column.is_null() else column.text(),
        rows=tuple(row.integer(0) for row in rows.items()),
        values=tuple(v.text() if isinstance(v.value, str) else v.number() for v in values.items()),
        message=_message(message),
        advice=_advice(advice),
    )


def _message(field: Field) -> str:
    if not isinstance(field.value, list):
        return field.text()
    parts = (p.text() if isinstance(p.value, str) else p.integer(0) for p in field.items())
    return RowText.of(*parts)


def _advice(field: Field) -> Advice:
    text, kind, column, role, value, otherwise = field.members(
        "text", "kind", "column", "role", "value", "otherwise"
    )
    return Advice(
        text=text.text(),
        kind=cast(AdviceKind, kind.text(get_args(AdviceKind))),
        column=None if column.is_null() else column.text(),
        role=None if role.is_null() else role.text(),
        value=value.value
        if value.is_null()
        else (value.text() if isinstance(value.value, str) else value.number()),
        otherwise=otherwise.text(),
    )
