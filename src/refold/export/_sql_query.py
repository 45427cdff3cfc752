"""The statement for a model: the stages of its kind, then label, distance and reasons."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from refold.export._exported_columns import check_missing, columns_of
from refold.export._groups import GroupConstants
from refold.export._sql_groups import GroupTables
from refold.export._sql_names import LIMITS, fresh_stem, text_literal
from refold.export._sql_rules import check_rules
from refold.export._sql_stages import (
    Expression,
    Stage,
    Stages,
    Vocabulary,
    case_when,
    constants_of,
    find_reasons,
    integer,
    real,
)
from refold.export._sql_statement import DATABASES, SourceTable
from refold.export._sql_table import check_table, write_mixed_stages, write_numeric_stages
from refold.models.detector import Detector
from refold.models.ref import REF

Writer = Callable[[Vocabulary, Sequence[Expression], GroupTables | None], Iterator[Stage]]


def ref_stages(model: REF) -> Writer:
    """Return what writes the stages of REF, from its features to the distance."""

    def write(
        words: Vocabulary, cells: Sequence[Expression], groups: GroupTables | None
    ) -> Iterator[Stage]:
        chain = model.chain_
        numbers = constants_of(chain, literal=model.max_gain_ is None)
        stages = Stages(words, str(chain.fold), numbers, chain.n_iter)
        yield from stages.read(cells)
        if model.levels_ == "all" and model.distance == "l2":
            yield from stages.all_norms()
        else:
            yield from stages.all_levels() if model.levels_ == "all" else stages.last_level()
            yield from stages.distance(str(model.distance))

    return write


def detector_stages(model: Detector, without: Collection[str], dialect: str) -> Writer:
    """Return what writes the stages of a Detector, from its columns to the distance."""
    check_rules(model)
    columns = columns_of(model, without)
    check_missing(columns.all, "SQL")

    plain = model.encoder_.counts.plan.plain
    if not plain:
        check_table(columns, dialect)

    def write(
        words: Vocabulary, cells: Sequence[Expression], groups: GroupTables | None
    ) -> Iterator[Stage]:
        if plain:
            return write_numeric_stages(words, model, columns, cells, groups)
        return write_mixed_stages(words, model, columns, cells, dialect, groups)

    return write


def statement(
    model: REF | Detector,
    write: Writer,
    features: Sequence[str],
    by: Mapping[str, str],
    answers: Sequence[str],
    table: Sequence[str],
    view: Sequence[str],
    dialect: str,
) -> str:
    """Return the statement that selects the answers beside the columns of a table."""
    database, stem = DATABASES[dialect], fresh_stem([*features, *by.values(), *table, *answers])
    source, groups = SourceTable(_table(table, f"{stem}row"), f"{stem}row", stem), None
    if by:
        groups = _groups(model, dialect, stem)
        cells = {name: source.column(theirs) for name, theirs in by.items()}
        source = replace(source, groups=groups.joins(cells))
    words, n_reasons = database.words(stem), len(answers) - 2
    texts = [text_literal(name, dialect) for name in features]
    values = _answers(words, texts, model.threshold_, n_reasons)
    written = list(write(words, [source.column(name) for name in features], groups))
    written += find_reasons(
        words,
        len(features),
        min(n_reasons, len(features)),
        add_up=getattr(model, "distance", "l1") == "l1",
        unblamed=_unblamed(model),
    )
    _check_columns(max(map(len, written)), len(features), dialect)
    query: Expression = database.compose(source, written, list(zip(answers, values, strict=True)))
    if view:
        query = exp.Create(this=_table(view), kind="VIEW", expression=query)
    return str(query.sql(dialect=dialect, copy=False))


def _unblamed(model: REF | Detector) -> frozenset[int]:
    """Return the features that the user's rules never name as a reason."""
    if not isinstance(model, Detector):
        return frozenset()
    names = model._learned.rules.unblamed
    return frozenset(k for k, name in enumerate(model.encoder_.counts.plan.names) if name in names)


def _groups(model: Any, dialect: str, stem: str) -> GroupTables:
    groups = GroupConstants(model.encoder_.context, model.scorer().group_scales)
    return GroupTables(groups, model.encoder_.inputs, dialect, stem)


def _answers(
    words: Vocabulary, features: Sequence[Expression], threshold: float, reasons: int
) -> list[Expression]:
    """Return label, distance and reasons from the columns of the last stage."""
    distance, limit = words.column("d"), real(threshold)
    normal, not_normal = integer(1), integer(-1)
    label = case_when([(distance <= limit, normal), (distance > limit.copy(), not_normal)])
    values = [label, distance.copy()]
    for rank in range(1, reasons + 1):
        name: Expression = exp.null()
        if rank <= len(features):
            found = words.column("k", rank)
            cases: list[tuple[Expression, Expression]] = [
                (distance.is_(exp.null()), exp.null()),
                (distance <= limit.copy(), exp.null()),
            ]
            cases += [(found.eq(integer(d)), feature.copy()) for d, feature in enumerate(features)]
            name = case_when(cases)
        values.append(exp.cast(name, "text"))
    return values


def _table(parts: Sequence[str], alias: str | None = None) -> Expression:
    catalog, schema, name = [None] * (3 - len(parts)) + list(parts)
    table = exp.table_(name, schema, catalog, quoted=True)
    return exp.alias_(table, alias, table=True) if alias else table


def _check_columns(widest: int, features: int, dialect: str) -> None:
    most = LIMITS[dialect].columns
    if most and widest > most:
        raise ValueError(
            f"{features} features need {widest} columns in one SELECT; {dialect} has at most "
            f"{most}. Fit the model on fewer features."
        )
