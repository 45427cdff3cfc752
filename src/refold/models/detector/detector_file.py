"""Detector in a model file: what was counted of each column, training rows, what judges inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.base.errors import UserError
from refold.columns.columns_file import read_table, table_written
from refold.columns.context.context import ContextModel
from refold.columns.context.context_file import context_written, read_context
from refold.columns.encoding.counts import NOVELTY_KINDS
from refold.columns.encoding.encoder import N_INIT
from refold.columns.encoding.encoding_file import (
    counts_written,
    plan_written,
    read_counts,
    read_plan,
    read_state,
    state_written,
)
from refold.columns.encoding.plan import Plan
from refold.columns.encoding.state import TableState
from refold.columns.table import NumberColumn, Table
from refold.decisions.calibration_file import (
    calibration_written,
    read_calibration,
    read_rate,
    read_threshold,
)
from refold.decisions.rules_reading import read_rules
from refold.decisions.thresholds import Calibration
from refold.modelfile import ModelFileError, arrays, document
from refold.modelfile.fields import Field
from refold.modelfile.json_text import Budget
from refold.models import ref_file
from refold.models.creased import CreasedREF, creased_file
from refold.models.detector.estimator import Detector
from refold.models.detector.learned import SIZE, Inside, LearnedTable, RowSample
from refold.models.detector.scorer import MeanScorer
from refold.models.detector.trim import TableCut
from refold.models.draws import BELOW_ONE
from refold.models.feedback import feedback_file as feedback
from refold.models.feedback.entry import JudgedRows
from refold.models.ref import REF
from refold.models.trim import read_cut, read_dropped

ESTIMATOR = Detector
MEMBERS = (
    *("threshold", "alpha", "calibration", "dropped", "cut"),
    *("context", "table", "waiting", "sample", "inside", feedback.MEMBER),
)
_INSIDE: document.Kinds = {"REF": ref_file, "CreasedREF": creased_file}
_LARGEST_SEED = int(np.iinfo(np.int32).max)


def written(model: Detector, budget: Budget) -> dict[str, Any]:
    """Return what a Detector has learned."""
    log, model = feedback.log_written(model), model._without_feedback()
    learned, calibrated = model._learned, model._set_calibration
    inside = _inside_of(learned)
    return {
        "threshold": None if inside is None else float(model.threshold_),
        "alpha": None if model.alpha_ is None else float(model.alpha_),
        "calibration": None if calibrated is None else calibration_written(calibrated),
        "dropped": model.dropped_,
        "cut": None if learned.cut is None else _cut_written(learned, learned.cut, budget),
        "context": None if learned.table.context is None else _context_written(learned, inside),
        **state_written(learned.table, budget),
        "sample": _sample_written(learned.sample, waits=learned.table.counts is None),
        "inside": None if inside is None else _inside_written(inside, budget),
        feedback.MEMBER: log,
    }


def least_memory(model: Detector, n_features: int) -> int:
    """Return what the directions of the creases take while they are read, in bytes."""
    return 0 if model.method == "ref" else creased_file.least_memory(CreasedREF(), n_features)


def read(members: dict[str, Field], model: Detector) -> None:
    """Give a model what a Detector has learned."""
    _check_rules(lambda: read_rules(model.rules))
    state = read_state(members["table"], members["waiting"], model._all_roles, N_INIT)
    state, scores, scales = _read_context(members["context"], state, model)
    _check_names(members, state, model)
    plan = _plan(members["waiting"], state)
    state, cut = _cut(members["cut"], state)
    sample = _sample(members["sample"], state, scores)
    model._learn(model._learned_of(state, sample, cut))
    _check_rules(model._learned.check_rules)
    model.alpha_ = read_rate(members["alpha"])
    if not members["calibration"].is_null():
        model._set_calibration = read_calibration(members["calibration"], ties=True)
    _read_judge(members["inside"], members["threshold"], plan, model)
    if scales is not None:
        LearnedTable.group_scales.keep(model._learned, _group_scales(scales, state))
    if not members["dropped"].is_null():
        model.dropped_ = read_dropped(members["dropped"])
    _read_feedback(members[feedback.MEMBER], model)


def _check_rules(check: Callable[[], object]) -> None:
    try:
        check()
    except UserError as error:
        raise ModelFileError(str(error), where="parameters.rules") from None


def _read_feedback(field: Field, model: Detector) -> None:
    """Read what was said of rows; what was accepted is learned now unless that costs too much."""
    state = model._learned.table
    names = state.names if state.counts is None else state.counts.plan.names
    if state.context is not None:
        names = [*state.context[0].names, *_measures(state)]
    read = feedback.table_rows_reader(names)

    def in_context(rows: Field, n: int) -> JudgedRows:
        found = read(rows, n)
        if state.context is None:
            return found
        assert isinstance(found, Table)
        scored = state.context[1].apply(_parsed(found, state))
        return scored.select(state.ready.plan.names)

    log = feedback.read_log(field, model, in_context)
    if log.rows("accepted") is not None and "inside" not in vars(model._learned):
        field.refuse("must be empty where nothing can be judged yet")
    try:
        with np.errstate(all="ignore"):
            model._apply_feedback(log)
            if model._base is not None and field.budget.has(_to_learn_again(model._base)):
                model.scorer()
    except ValueError as error:
        field.refuse(f"cannot be learned: {error}")


def _to_learn_again(learned: LearnedTable) -> int:
    """Return what it takes to encode the rows that are kept, and to learn from them, in bytes."""
    plan, rows = learned.table.ready.plan, learned.sample.rows
    columns = len(plan.leading) + len(plan.used)
    return 4 * 8 * columns * (0 if rows is None else rows.rows)


def _read_judge(inside: Field, threshold: Field, plan: Plan, model: Detector) -> None:
    """Read what judges, and the threshold if another was set."""
    if inside.is_null() != threshold.is_null():
        threshold.refuse("must be there if, and only if, 'inside' is")
    if not inside.is_null():
        judge, chosen = _inside(inside, plan, model.method), _threshold(threshold)
        LearnedTable.inside.keep(model._learned, judge)
        own = (judge.threshold, model._learned.rate, None)
        decided = (chosen, model.alpha_, model._set_calibration)
        model._set_threshold = None if decided == own else chosen


def _group_scales(field: Field, state: TableState) -> Floats | None:
    """Read by what distances are divided in each group."""
    if field.is_null():
        return None
    assert state.context is not None
    groups = len(state.context[1].groups.keys)
    if groups == 0:
        field.refuse("must be null for a model without groups")
    found = arrays.floats(field, groups + 1, least=1.0)
    if found[-1] != 1.0:
        field.refuse("must end with 1: rows of no group are judged by the threshold of all")
    return found


def _threshold(field: Field) -> float:
    threshold = read_threshold(field)
    if threshold > feedback.LARGEST_THRESHOLD:
        field.refuse(f"must be at most {feedback.LARGEST_THRESHOLD:g}, is {threshold!r}")
    return threshold


def _context_written(learned: LearnedTable, inside: Inside | None) -> dict[str, Any]:
    """Return the context, how the rows that are kept were expected, and scales of groups.

    Over time, and where a cut goes through them, they stay as they were when they were counted.
    """
    assert learned.table.context is not None
    (plan, context), rows = learned.table.context, learned.sample.rows
    scores = None
    if rows is not None and (context.axis is not None or learned.cut is not None):
        columns = [rows[name] for name in context.columns]
        numbers = [column.values for column in columns if isinstance(column, NumberColumn)]
        scores = arrays.NullableArray(np.reshape(numbers, (len(columns), rows.rows)).T)
    return {
        "plan": plan_written(plan),
        "model": context_written(context),
        "scores": scores,
        "group_scales": None if inside is None else learned.group_scales,
    }


def _read_context(
    field: Field, state: TableState, model: Detector
) -> tuple[TableState, Field | None, Field | None]:
    """Return the state with its context, how kept rows were foreseen, and scales of groups."""
    nothing = model._nothing()[0]
    given = nothing.given
    state = replace(state, given=given, window=nothing.window)
    if field.is_null() != (state.counts is None or not model._has_context):
        field.refuse("must be there if, and only if, the model has a context and no rows wait")
    if field.is_null():
        return state, None, None
    plan, context, scores, scales = field.members("plan", "model", "scores", "group_scales")
    found = read_plan(plan), read_context(context)
    window = found[1].window
    if found[1].given != given or (None if window is None else window.window) != nothing.window:
        context.refuse("must be what by=, over=, context= and window= say")
    measures = {} if window is None else window.columns
    looked_at = {each.column for each in measures.values()}
    absent = {*found[1].columns, *given.names, *looked_at}.difference(found[0].names, measures)
    if absent:
        plan.refuse(f"must have the column {min(absent)[:60]!r}")
    return replace(state, context=found), scores, scales


def _cut_written(learned: LearnedTable, by: TableCut, budget: Budget) -> dict[str, Any]:
    return {
        "table": counts_written(by.counts, budget),
        "rows": asdict(by.cut),
        "novelties": learned.counts.novelties_left_out,
    }


def _cut(field: Field, state: TableState) -> tuple[TableState, TableCut | None]:
    """Read by what rows are left out, and what was new in these."""
    if field.is_null():
        return state, None
    if state.counts is None:
        field.refuse("must be null while rows wait")
    table, rows, novelties = field.members("table", "rows", "novelties")
    counts = read_counts(table)
    if different := state.counts.plan.differing(counts.plan):
        table.refuse(f"takes {different[0][:60]!r} for something else than the table of all rows")
    cut = read_cut(rows)
    left_out = arrays.integers(
        novelties, len(counts.plan.used), NOVELTY_KINDS, least=0, most=cut.left_out
    )
    counted = replace(state.counts, novelties_left_out=left_out)
    return state.with_counts(counted), TableCut(counts, cut)


def _check_names(members: dict[str, Field], state: TableState, model: Detector) -> None:
    """Refuse columns that the model has not been given."""
    named = getattr(model, "feature_names_in_", None)
    names = [f"x{j}" for j in range(model.n_features_in_)] if named is None else named.tolist()
    if state.context is not None and (window := state.context[1].window) is not None:
        names += list(window.columns)
    if state.counts is None:
        where, found = members["waiting"], state.waiting[0].names
    else:
        where, found = members["table"], [column.name for column in state.counts.plan.columns]
    unknown = sorted(set(found) - set(names))
    if unknown:
        where.member("columns").refuse(f"{unknown[0][:60]!r} is not a column of the model")


def _sample_written(sample: RowSample, *, waits: bool) -> dict[str, Any]:
    rows = None if waits or sample.rows is None else table_written(sample.rows)
    return {
        "seed": sample.seed,
        "seen": sample.seen,
        "keys": None if waits else sample.keys,
        "rows": rows,
    }


def _sample(field: Field, state: TableState, scores: Field | None) -> RowSample:
    """Read the rows that are kept; those that wait are all kept."""
    seed, seen, keys, rows = field.members("seed", "seen", "keys", "rows")
    nothing = RowSample(seed.integer(0, _LARGEST_SEED), seen.integer(0))
    if state.counts is None:
        for each in (keys, rows):
            if not each.is_null():
                each.refuse("must be null while rows wait")
        if nothing.seen != state.waiting[0].rows:
            seen.refuse(f"must be {state.waiting[0].rows}, the rows that wait")
        return RowSample(nothing.seed).plus_rows(state.waiting[0])
    length = arrays.length_of(keys, SIZE, least=0)
    drawn = arrays.floats(keys, length, least=0.0, most=BELOW_ONE)
    if rows.is_null():
        if len(drawn) or state.counts.rows:
            rows.refuse("must be there where rows were learned")
        return nothing
    kept = read_table(rows, len(drawn))
    if kept.rows != len(drawn):
        rows.refuse(f"has {kept.rows} rows for {len(drawn)} keys")
    plan = state.counts.plan if state.context is None else state.context[0]
    if kept.names != [*plan.names, *_measures(state)]:
        rows.member("columns").refuse("must be those of the table that are not ignored")
    if state.context is not None:
        kept = _scored(_parsed(kept, state), state.context[1], scores)
        kept = kept.select(state.counts.plan.names)
    return RowSample(nothing.seed, nothing.seen, drawn, kept)


def _measures(state: TableState) -> list[str]:
    """Return what is looked at of the rows before each one."""
    window = None if state.context is None else state.context[1].window
    return [] if window is None else list(window.columns)


def _parsed(rows: Table, state: TableState) -> Table:
    """Return rows of a file, parsed; what their window was is there."""
    assert state.context is not None
    parsed = state.context[0].parse(rows)
    measures = _measures(state)
    return Table.hstack([parsed, rows.select(measures)]) if measures else parsed


def _scored(kept: Table, context: ContextModel, scores: Field | None) -> Table:
    """Return rows that are kept as they were expected then, or as they are expected now."""
    if scores is None or (context.axis is None and scores.is_null()):
        return context.left_out(kept)
    found = arrays.rows_of(scores, kept.rows, len(context.columns))
    return context.scored(kept, dict(zip(context.columns, found.T, strict=True)))


def _plan(waiting: Field, state: TableState) -> Plan:
    """Return the plan; where rows wait it is made of them, now, so that bad ones are refused."""
    try:
        return state.ready.plan
    except ValueError as error:
        waiting.refuse(f"cannot be learned: {error}")


def _inside_of(learned: LearnedTable) -> Inside | None:
    try:
        return learned.inside
    except ValueError:  # too few rows yet: the model can be saved, and goes on learning
        return None


def _inside_written(inside: Inside, budget: Budget) -> dict[str, Any]:
    model, calibration = inside.model, inside.calibration
    own = model is not None and calibration is model.calibration_
    return {
        "threshold": inside.threshold,
        "calibration": None if own else calibration_written(calibration),
        "model": None if model is None else document.model_written(model, _INSIDE, budget),
    }


def _inside(field: Field, plan: Plan, method: str) -> Inside:
    threshold, calibration, model = field.members("threshold", "calibration", "model")
    leading, columns = len(plan.leading), len(plan.used)
    if model.is_null():
        if plan.plain:
            model.refuse("must be there for a table of numbers alone")
        if method != "ref":
            model.refuse(f"must be there for the method {method!r}")
        own = read_calibration(calibration, ties=True)
        return Inside(MeanScorer(leading), _threshold(threshold), own, None)
    judge = document.read_inside(model, _INSIDE)
    if judge.feedback_:  # all is said of rows of the table
        model.member(feedback.MEMBER).refuse("must be empty inside another model")
    magnitudes = 0 if plan.plain else columns
    if not plan.plain and isinstance(judge, REF):
        model.refuse("must be a CreasedREF, or null, for a table with other columns than numbers")
    _check_features(model, judge, leading, magnitudes)
    judge._quiet = True
    try:
        scores: Calibration | None = getattr(judge, "calibration_", None)
        scorer = judge.scorer()
    except ValueError as error:  # it has not learned enough
        model.refuse(str(error))
    if not calibration.is_null():
        scores = read_calibration(calibration, ties=True)
    elif scores is None:
        calibration.refuse("must be there where the model inside has none")
    return Inside(scorer, _threshold(threshold), scores, judge)


def _check_features(field: Field, judge: REF | CreasedREF, leading: int, magnitudes: int) -> None:
    if judge.n_features_in_ != leading + magnitudes:
        field.member("n_features").refuse(f"must be {leading + magnitudes}, as many as features")
    if isinstance(judge, CreasedREF) and judge._learned.state.recipe.magnitudes != magnitudes:
        field.member("recipe").refuse(f"must have {magnitudes} magnitudes")
