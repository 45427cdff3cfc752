"""A Detector as stages of SQL: its columns side by side, then folds, then what they add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from refold.columns.zones import UTC
from refold.export._exported_columns import (
    Columns,
    ExportedDate,
    ExportedNumber,
    check_plain_numbers,
    check_views,
)
from refold.export._sql_cells import READERS, Reader
from refold.export._sql_columns import ColumnSteps, Step, beyond_zero, write_beside
from refold.export._sql_groups import GroupTables, score_steps
from refold.export._sql_rules import OUTSIDE, SqlRules, carrying_first
from refold.export._sql_stages import (
    Expression,
    Stage,
    Stages,
    Vocabulary,
    add,
    any_of,
    case_when,
    constants_of,
    divide,
    is_finite,
    is_infinite,
    real,
)
from refold.models.detector import Detector
from refold.models.detector.scorer import FARTHEST
from refold.models.ref import REF


def write_numeric_stages(
    words: Vocabulary,
    model: Detector,
    columns: Columns,
    cells: Sequence[Expression],
    groups: GroupTables | None,
) -> Iterator[Stage]:
    """Write a model of numbers alone: REF, and what was never missing and is."""
    inside = model.model_
    assert isinstance(inside, REF)
    chain, names = inside.chain_, range(len(cells))
    rules = SqlRules.of(model, columns, list(cells)) if model._learned.rules.calibrates else None
    stages = Stages(words, str(chain.fold), constants_of(chain, literal=False), chain.n_iter)
    steps = [
        _plain_steps(words, k, column.name, cell, groups)
        for k, (column, cell) in enumerate(zip(columns.all, cells, strict=True))
    ]
    scale = None if groups is None else groups.scale
    if scale is not None:
        steps[0] = carrying_first(words, steps[0], "scale", scale)
    yield from _side_by_side(words, steps)
    novel = []
    for k, column in enumerate(columns.all):
        raw = words.column("raw", k)
        there = exp.or_(is_finite(raw), is_infinite(raw))
        gone = case_when([(there, real(0.0))], real(columns.certain))
        odd = [gone if column.novel[1] else real(0.0)]
        if rules is not None:
            missing = rules.missing(k, there.copy())
            out = [rules.outside(k, raw), *([] if missing is None else [missing])]
            odd += [each * real(OUTSIDE * columns.certain) for each in out]
        moved = raw if rules is None else case_when([(is_finite(raw), rules.moved(k, raw))], raw)
        assert isinstance(column, ExportedNumber)
        if (beyond := beyond_zero(column, moved)) is not None:
            odd.append(beyond * real(columns.certain))
        novel.append(words.alias(add(odd), "novel", k))
    read = [words.column("raw", k) for k in names]
    if rules is not None:
        read = [
            case_when([(is_finite(raw), rules.moved(k, raw))], raw) for k, raw in enumerate(read)
        ]
    folded = [*stages.read(read), *stages.all_levels()]
    raws = [words.column("raw", k) for k in names]
    some = any_of([exp.or_(is_finite(raw), is_infinite(raw)) for raw in raws])
    empty = words.alias(case_when([(some, real(0.0))], real(1.0)), "empty")
    scales = [] if scale is None else [words.column("scale", 0)]
    yield from _carrying(folded, [empty, *scales, *novel])
    sizes = [divide(words.column("m", k), words.column("n")) for k in names]
    sizes = [divide(size, *scales) if scales else size for size in sizes]
    parts = [
        exp.Add(this=size, expression=words.column("novel", k)) for k, size in enumerate(sizes)
    ]
    yield [words.alias(_unless_empty(words, columns, part), "m", k) for k, part in enumerate(parts)]
    yield _total(words, len(cells))


def _plain_steps(
    words: Vocabulary, k: int, name: str, cell: Expression, groups: GroupTables | None
) -> Iterator[Step]:
    """Read a number, and where groups are told apart turn it into its score."""
    constants = {} if groups is None else groups.constants(name)
    yield {"raw": words.read(cell), **constants}
    if groups is not None:
        yield from score_steps(
            lambda each: words.column(each, k), words.greatest, log=groups.log[name]
        )


def _unless_empty(words: Vocabulary, columns: Columns, part: Expression) -> Expression:
    """Return a column's part of the distance; in a row without any value it is novel."""
    return case_when([(words.column("empty").eq(1), real(columns.certain))], part)


def write_mixed_stages(
    words: Vocabulary,
    model: Detector,
    columns: Columns,
    cells: Sequence[Expression],
    dialect: str,
    groups: GroupTables | None,
) -> Iterator[Stage]:
    """Write a model of a mixed table: the mean of what its columns say."""
    reader = READERS[dialect]
    rules = SqlRules.of(model, columns, list(cells)) if model._learned.rules.calibrates else None
    steps = [
        ColumnSteps(words, reader, k, groups, rules).of(column, cell)
        for k, (column, cell) in enumerate(zip(columns.all, cells, strict=True))
    ]
    if rules is not None:
        steps[0] = carrying_first(words, steps[0], "mute", rules.muted(reader))
    scale = None if groups is None else groups.scale
    if scale is not None:
        steps[0] = carrying_first(words, steps[0], "scale", scale)
    yield from _side_by_side(words, steps)
    carried = _beside(words, reader, columns, rules)
    carried += [] if scale is None else [words.column("scale", 0)]
    numbers = [words.column("raw", k) for k in columns.numbers.tolist()]
    yield [*carried, *numbers]
    counts = model.encoder_.counts.numbers
    if counts is not None:
        chain = counts.chain
        stages = Stages(words, "abs", constants_of(chain, literal=False), chain.n_iter)
        folded = [*stages.read(numbers), *stages.all_levels()]
        yield from _carrying(folded, [exp.column(each.alias_or_name) for each in carried])
    yield _magnitudes(words, columns, muted=rules is not None, scaled=scale is not None)
    yield _total(words, len(cells), words.column("judged"))


def check_table(columns: Columns, dialect: str) -> None:
    """Refuse, by name, what a database cannot say of a mixed table."""
    if dialect not in READERS:
        known = ", ".join(READERS)
        raise ValueError(
            f"A table of texts or dates can be judged in {known}; not in {dialect}, where it could "
            "not be tested."
        )
    reader = READERS[dialect]
    check_plain_numbers(columns.all, reader.language, reader.reads_marks)
    if not reader.regular:
        check_views(columns.all, reader.language)
    for column in columns.all:
        if isinstance(column, ExportedDate):
            _check_date(column, reader)


def _check_date(column: ExportedDate, reader: Reader) -> None:
    form = column.form
    if form is not None and form.format not in ("iso", "%H:%M:%S"):
        raise ValueError(
            f"Column {column.name!r}: dates written as {form.format} cannot be read in "
            f"{reader.language} as in Python. Make it a column of a type for dates, or write dates "
            "as 2026-01-31, and fit again."
        )
    if not reader.regular and column.zone not in ("", UTC):
        raise ValueError(
            f"Column {column.name!r}: its times were learned in the zone {column.zone}, which "
            f"{reader.language} does not know. Make it times in UTC, or without a zone, and fit "
            "again."
        )
    if not reader.regular and column.counts.shapes.rows and not column.novel[2]:
        raise ValueError(
            f"Column {column.name!r}: the form of texts that are not dates, of which training had "
            f"some, cannot be said in {reader.language}. Clear them and fit again."
        )


def _side_by_side(words: Vocabulary, columns: Sequence[Iterator[Step]]) -> Iterator[Stage]:
    """Take a step of every column at a time; one that is done waits for the others."""
    done: list[Step] = [{} for _ in columns]
    while True:
        steps = [next(column, None) for column in columns]
        if not any(steps):
            return
        stage: Stage = []
        for k, step in enumerate(steps):
            left = {name: words.column(name, k) for name in done[k]} if step is None else step
            done[k] = left
            stage += [words.alias(value, name, k) for name, value in left.items()]
        yield stage


def _beside(words: Vocabulary, reader: Reader, columns: Columns, rules: SqlRules | None) -> Stage:
    """Add what cells say beside each other, and leave what the end needs."""
    states = [words.column("state", k) for k in range(len(columns.all))]
    some = any_of([exp.not_(state.eq(1)) for state in states])
    stage: Stage = [
        words.alias(_is_judged(states), "judged"),
        words.alias(case_when([(some, real(0.0))], real(1.0)), "empty"),
        *([] if rules is None else [words.column("mute", 0)]),
    ]
    for k, column in enumerate(columns.all):
        beside = columns.beside.get(k)
        more, novel = real(0.0), words.column("novel", k)
        if beside is not None:
            pair = words.column("code", beside.partner), words.column("code", k)
            more = write_beside(reader, *pair, beside.surprise)
            if beside.novel.any():
                novel += write_beside(reader, *pair, beside.novel)
        if rules is not None:
            out = [] if isinstance(column, ExportedDate) else [words.column("out", k)]
            missing = rules.missing(k, exp.not_(states[k].copy().eq(1)))
            out += [] if missing is None else [missing]
            novel = add([novel, *(each * real(OUTSIDE) for each in out)])
        stage += [
            words.column("size", k),
            words.alias(exp.cast(more, "double"), "more", k),
            words.alias(novel, "novel", k),
        ]
    return stage


def _is_judged(states: Sequence[Expression]) -> Expression:
    """Return 1, or NULL for a row that Python refuses: infinity in it."""
    infinite = any_of([state.copy().eq(3) for state in states])
    return exp.cast(case_when([(infinite, exp.null())], real(1.0)), "double")


def _magnitudes(words: Vocabulary, columns: Columns, *, muted: bool, scaled: bool) -> Stage:
    """Return each column's part of the distance."""
    place = {k: place for place, k in enumerate(columns.numbers.tolist())}
    stage: Stage = [words.column("judged")]
    for k in range(len(columns.all)):
        size = words.column("size", k)
        if k in place:
            size = words.largest([size, words.column("m", place[k])])
        size = words.at_most(exp.Add(this=size, expression=words.column("more", k)), FARTHEST)
        certain = words.column("novel", k) * real(columns.certain)
        inside = divide(size, real(float(len(columns.all))))
        inside = divide(inside, words.column("scale", 0)) if scaled else inside
        part = exp.Add(this=inside, expression=certain)
        part = _unless_empty(words, columns, part)
        if muted:
            part = case_when([(words.column("mute", 0) > real(0.5), real(0.0))], part)
        stage.append(words.alias(part, "m", k))
    return stage


def _total(words: Vocabulary, count: int, judged: Expression | None = None) -> Stage:
    sizes = [words.column("m", k) for k in range(count)]
    total = exp.paren(add([size.copy() for size in sizes]))
    return [*sizes, words.alias(total if judged is None else total * judged, "d")]


def _carrying(stages: Sequence[Stage], carried: Stage) -> Iterator[Stage]:
    """Let columns pass through stages; the first of them makes them."""
    for place, stage in enumerate(stages):
        names = [exp.column(each.alias_or_name) for each in carried]
        yield [*stage, *(carried if place == 0 else names)]
