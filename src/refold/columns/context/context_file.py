"""What cells should be in their context, in a model file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from refold.columns.context.column_context import ColumnContext
from refold.columns.context.context import ContextColumns, ContextModel
from refold.columns.context.design import (
    MOST_LEVELS,
    CalendarFeatures,
    ContextFeatures,
    Design,
    GroupIndex,
    LevelFeatures,
    NumberFeatures,
)
from refold.columns.context.group_texts import MOST_LABELS, N_VIEWS, GroupTexts, LabelCounts
from refold.columns.context.mixed_model import GroupSquares, MixedModel, Moments
from refold.columns.context.trend import FORMS, FeatureLayout, TimeAxis, TrendFeatures
from refold.columns.context.window_file import read_window, window_written
from refold.modelfile import arrays
from refold.modelfile.fields import Field

_MOST_GROUPS = 10**6
_MOST_KNOTS = 100
_MOST_ROWS = 2**53  # more cannot be counted exactly
_COLUMN = (
    *("log", "middle", "scale", "form", "ahead", "spread_coef", "smallest", "moments", "squares"),
    *("reference", "variance", "group_ridge", "ridges"),
)
_MOMENTS = ("rows", "xx", "xy", "yy", "group_rows", "group_x", "group_y")
_SQUARES = ("weight", "mean", "squares")


def context_written(context: ContextModel) -> dict[str, Any]:
    """Return a context as the document has it."""
    axis = context.axis
    return {
        **{name: list(columns) for name, columns in vars(context.given).items()},
        "groups": _keys_written(context.groups.keys),
        "features": [_features_written(part) for part in context.design.parts],
        "span": None if axis is None else [axis.begin, axis.end, axis.unit],
        "columns": {name: _column_written(column) for name, column in context.columns.items()},
        "window": None if context.window is None else window_written(context.window),
        "texts": {
            name: [_labels_written(counts) for counts in texts.views]
            for name, texts in context.texts.items()
        },
    }


def read_context(field: Field) -> ContextModel:
    """Return a checked context."""
    by, over, context, groups, features, span, columns, window, texts = field.members(
        "by", "over", "context", "groups", "features", "span", "columns", "window", "texts"
    )
    given = ContextColumns(*(tuple(map(Field.text, each.items())) for each in (by, over, context)))
    arrays.check_different(by, given.names)
    if (not given.names and window.is_null()) or len(given.over) > 1:
        field.refuse("must name columns, at most one of them in 'over'")
    axis = None
    if bool(given.over) == span.is_null():
        span.refuse("must be there if, and only if, there is a time")
    if given.over:
        begin, end, unit = (float(each.number()) for each in span.items(3))
        if not 0.0 < unit <= end - begin < np.inf:
            span.refuse("must end after its beginning")
        axis = TimeAxis(given.over[0], begin, end, unit)
    index = GroupIndex(given.by, _read_keys(groups, len(given.by), _MOST_GROUPS))
    parts = tuple(_read_features(part, axis) for part in features.items())
    if [isinstance(part, TrendFeatures) for part in parts].count(True) != len(given.over):
        features.refuse("must have a trend if, and only if, there is a time")
    windows = None if window.is_null() else read_window(window, given)
    model = ContextModel(given, index, Design(parts), {}, windows)
    for name, column in columns.entries():
        model.columns[name] = _read_column(column, model.layout)
    for name, views in texts.entries():
        counts = tuple(_read_labels(view, len(index.keys)) for view in views.items(N_VIEWS))
        model.texts[name] = GroupTexts(counts, model.tree)
    return model


def _labels_written(counts: LabelCounts) -> dict[str, Any]:
    labels = arrays.StringArray(list(counts.labels))
    return {"labels": labels, "keys": counts.keys, "counts": counts.counts}


def _read_labels(field: Field, groups: int) -> LabelCounts:
    labels, keys, counts = field.members("labels", "keys", "counts")
    told = tuple(arrays.texts(labels, MOST_LABELS))
    arrays.check_different(labels, told)
    pairs = groups * (len(told) + 2)
    n = arrays.length_of(keys, pairs, least=0)
    found = arrays.integers(keys, n, least=0, most=max(pairs - 1, 0))
    if (np.diff(found) <= 0).any():
        keys.refuse("must rise")
    return LabelCounts(told, found, arrays.integers(counts, n, least=1, most=_MOST_ROWS))


def _features_written(part: ContextFeatures) -> dict[str, Any]:
    if isinstance(part, LevelFeatures):
        return {"levels": list(part.columns), "of": _keys_written(part.levels)}
    if isinstance(part, NumberFeatures):
        knots = part.knots.tolist()
        return {"number": part.column, "middle": part.middle, "scale": part.scale, "knots": knots}
    if isinstance(part, CalendarFeatures):
        has = {"date": part.has_date, "clock": part.has_clock, "season": part.seasonal}
        return {"calendar": part.column, **has}
    return {"trend": True}


def _read_features(field: Field, axis: TimeAxis | None) -> ContextFeatures:
    field.object()
    if "levels" in field.value:
        columns, levels = field.members("levels", "of")
        names = tuple(map(Field.text, columns.items()))
        return LevelFeatures(names, _read_keys(levels, len(names), MOST_LEVELS))
    if "number" in field.value:
        column, middle, scale, knots = field.members("number", "middle", "scale", "knots")
        places = np.array([float(item.number()) for item in knots.items()])
        arrays.require_rising(knots, places)
        if not 1 <= len(places) <= _MOST_KNOTS:
            knots.refuse(f"must have from 1 to {_MOST_KNOTS} numbers")
        return NumberFeatures(column.text(), float(middle.number()), scale.positive(), places)
    if "calendar" in field.value:
        column, *has = field.members("calendar", "date", "clock", "season")
        return CalendarFeatures(column.text(), *(each.boolean() for each in has))
    (trend,) = field.members("trend")
    if axis is None or not trend.boolean():
        trend.refuse("needs a time")
    return TrendFeatures(axis)


def _column_written(column: ColumnContext) -> dict[str, Any]:
    model, moments = column.model, column.moments
    sums = moments.group_x.tocoo()
    return {
        "log": column.log,
        "middle": column.middle,
        "scale": column.scale,
        "form": column.form,
        "ahead": column.ahead.tolist(),
        "spread_coef": column.spread_coef,
        "smallest": column.smallest,
        "moments": {
            **{name: getattr(moments, name) for name in _MOMENTS},
            "group_x": {
                "groups": sums.row.astype(np.int64),
                "features": sums.col.astype(np.int64),
                "sums": sums.data,
            },
        },
        "squares": {name: getattr(column.squares, name) for name in _SQUARES},
        "reference": column.reference,
        "variance": model.variance,
        "group_ridge": model.group_ridge,
        "ridges": model.ridges.tolist(),
    }


def _read_column(field: Field, layout: FeatureLayout) -> ColumnContext:
    each = dict(zip(_COLUMN, field.members(*_COLUMN), strict=True))
    form = next(form for form in FORMS if form == each["form"].text(FORMS))
    features, blocks = layout.of_form(form)
    p, groups = len(features), layout.groups
    ahead = np.array([float(item.number()) for item in each["ahead"].items()])
    if not len(ahead) or (np.diff(ahead) < 0.0).any() or ahead[0] <= 0.0:
        each["ahead"].refuse("must have positive numbers that do not fall")
    weight, mean, squares = each["squares"].members(*_SQUARES)
    coef, places = each["spread_coef"], max(groups, 1)
    column = ColumnContext(
        each["log"].boolean(),
        float(each["middle"].number()),
        each["scale"].positive(),
        form,
        features,
        blocks,
        None if coef.is_null() else arrays.floats(coef, p, least=-300.0, most=300.0),
        each["smallest"].positive(),
        ahead,
        _read_moments(each["moments"], groups, p),
        GroupSquares(
            arrays.floats(weight, places, least=0.0),
            arrays.floats(mean, places),
            arrays.floats(squares, places, least=0.0),
        ),
        arrays.floats(each["reference"], p),
    )
    ColumnContext.model.keep(column, _read_model(field, each, column))
    return column


def _read_model(field: Field, each: Mapping[str, Field], column: ColumnContext) -> MixedModel:
    """Solve the model with the ridges that were found."""
    found = each["ridges"].items(len(column.blocks))
    ridges = np.array([float(item.number()) for item in found])
    arrays.require(each["ridges"], ridges, ridges >= 0.0, "must not be below 0")
    block_of = np.repeat(np.arange(len(ridges)), column.blocks)
    try:
        with np.errstate(all="ignore"):
            model = MixedModel.given(
                column.moments, ridges, block_of, each["group_ridge"].positive()
            )
    except np.linalg.LinAlgError:
        field.refuse("has sums that no rows have")
    for values in (model.coef, model.effects, model.inverse):
        if not np.isfinite(values).all():
            field.refuse("has sums that no rows have")
    return replace(model, variance=each["variance"].positive())


def _read_moments(field: Field, groups: int, p: int) -> Moments:
    rows, xx, xy, yy, group_rows, group_x, group_y = field.members(*_MOMENTS)
    return Moments(
        rows.integer(0),
        arrays.floats(xx, p, p),
        arrays.floats(xy, p),
        float(yy.number()),
        arrays.floats(group_rows, groups, least=0.0),
        _read_sums(group_x, groups, p),
        arrays.floats(group_y, groups),
    )


def _read_sums(field: Field, groups: int, features: int) -> sparse.csr_array:
    rows, columns, sums = field.members("groups", "features", "sums")
    n = arrays.length_of(sums, groups * features, least=0)
    places = (
        arrays.integers(rows, n, least=0, most=max(groups - 1, 0)),
        arrays.integers(columns, n, least=0, most=features - 1),
    )
    shape = (groups, features)
    return sparse.csr_array((arrays.floats(sums, n), places), shape=shape)


def _keys_written(keys: Mapping[tuple[str, ...], int]) -> arrays.StringArray:
    """Return groups in the order of their numbers, each as a list in JSON."""
    return arrays.StringArray([json.dumps(key, ensure_ascii=False) for key in keys])


def _read_keys(field: Field, length: int, most: int) -> dict[tuple[str, ...], int]:
    keys: dict[tuple[str, ...], int] = {}
    for number, text in enumerate(arrays.texts(field, most)):
        try:
            key = json.loads(text)
        except ValueError:
            key = None
        if not isinstance(key, list) or len(key) != length or set(map(type, key)) - {str}:
            field.at(number).refuse(f"must be a list of {length} texts")
        keys.setdefault(tuple(key), number)
    if len(keys) != number + 1 if keys else False:
        field.refuse("must be different groups")
    return keys
