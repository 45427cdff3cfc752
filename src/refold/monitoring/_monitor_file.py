"""The state of a monitor as a document: what its rows have shown, and no row."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.columns.encoding.encoding_file import read_tally, tally_written
from refold.columns.encoding.value_counts import ValueCounts
from refold.columns.summary import N_QUANTILES
from refold.judgement import Judge
from refold.modelfile import arrays
from refold.modelfile.fields import LARGEST_INTEGER, Field
from refold.monitoring._change import ChangeTest
from refold.monitoring._classes import ColumnClasses, Tallies
from refold.monitoring._drift_counts import Baseline, CumulativeCounts, DriftCounts, QuantileCuts
from refold.monitoring._martingale import BETS, BLOCK, MOST_STARTS, ConformalMartingale

FORMAT = "refold monitor"
MEMBERS = ("model", "alpha", "counts", "change")
_MOST_ROWS = 2**53  # so that all sums stay whole numbers


def digest_of(judge: Judge, training: Baseline, cuts: QuantileCuts) -> str:
    """Return the SHA-256 of what new rows are compared with."""
    head = [judge.names, judge.threshold, training.rows, training.kinds]
    total = hashlib.sha256(json.dumps(head).encode())
    for array in (training.states, cuts.lower, cuts.upper):
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def counts_to_document(counts: DriftCounts) -> dict[str, Any]:
    """Return counts as the document has them."""
    return {
        "rows": counts.rows,
        "judged": counts.judged,
        "rejected": counts.rejected,
        "states": counts.states,
        "places": _places(counts.places),
        "places_rejected": _places(counts.places_rejected),
        "classes": [_tallies(each) for each in counts.classes.values()],
        "classes_rejected": [_tallies(each) for each in counts.classes_rejected.values()],
    }


def _places(places: CumulativeCounts) -> dict[str, Any]:
    extremes = {"smallest": places.smallest, "largest": places.largest}
    return {
        "below": places.below,
        "up_to": places.up_to,
        "present": places.present,
        **{
            name: arrays.NullableArray(np.where(np.isfinite(values), values, np.nan))
            for name, values in extremes.items()
        },
    }


def _tallies(tallies: Tallies) -> dict[str, Any]:
    return {
        way: [tally.rows, *tally.counts.values()] if way == "range" else tally_written(tally)
        for way, tally in tallies.items()
    }


def read_drift_counts(field: Field, training: Baseline) -> DriftCounts:
    """Return checked counts of rows with the columns of a model."""
    members = ("rows", "judged", "rejected", "states", "places", "places_rejected")
    total, judged, rejected, states, places, out, classes, classes_out = field.members(
        *members, "classes", "classes_rejected"
    )
    rows = total.integer(0, _MOST_ROWS)
    n_judged = judged.integer(0, rows)
    n_rejected = rejected.integer(0, n_judged)
    by_state = arrays.integers(states, *training.states.shape, least=0, most=rows)
    summed = by_state.sum(axis=1)
    arrays.require(states, summed, summed == rows, f"must add up to the {rows} rows")
    columns = len(training.numeric)
    counts = DriftCounts(
        rows=rows,
        judged=n_judged,
        rejected=n_rejected,
        states=by_state,
        places=_read_places(places, columns, rows),
        places_rejected=_read_places(out, columns, n_rejected),
        classes=_read_classes(classes, training, rows),
        classes_rejected=_read_classes(classes_out, training, n_rejected),
    )
    _check_rejected(out, counts.places_rejected, counts.places)
    for k, field_of in zip(training.divided, classes_out.items(), strict=True):
        for way, some in counts.classes_rejected[k].items():
            if not _is_part(some, counts.classes[k][way]):
                field_of.member(way).refuse("counts rows that are not among all rows")
    return counts


def _check_rejected(field: Field, some: CumulativeCounts, everything: CumulativeCounts) -> None:
    """Refuse more rejected rows than rows, between any two cuts."""
    below, up_to, present, *_ = field.members("below", "up_to", "present", "smallest", "largest")
    right = some.below <= everything.below
    arrays.require(below, some.below, right, "must be at most that of all rows")
    right = some.up_to <= everything.up_to
    arrays.require(up_to, some.up_to, right, "must be at most that of all rows")
    above = (some.present - some.up_to <= everything.present - everything.up_to).all(axis=0)
    right = above & (some.present <= everything.present)
    arrays.require(present, some.present, right, "must be at most that of all rows")


def _is_part(some: ValueCounts, everything: ValueCounts) -> bool:
    """Whether rows may be some of others; of very many values only the frequent ones are known."""
    return (
        some.rows <= everything.rows
        and some.missing <= everything.missing
        and some.level <= everything.level
        and all(
            n <= everything.counts[value] + everything.error
            if value in everything.counts
            else bool(everything.level)
            for value, n in some.counts.items()
        )
    )


def _read_places(field: Field, columns: int, rows: int) -> CumulativeCounts:
    below, up_to, present, smallest, largest = field.members(
        "below", "up_to", "present", "smallest", "largest"
    )
    values = arrays.integers(present, columns, least=0, most=rows)
    inside = arrays.integers(up_to, N_QUANTILES, columns, least=0, most=rows)
    among = np.diff(inside, axis=0, prepend=0, append=values[None, :])
    fine = np.all(among >= 0, axis=0)
    arrays.require(present, values, fine, "must be the last of counts that never fall")
    outside = arrays.integers(below, N_QUANTILES, columns, least=0)
    arrays.require(below, outside, outside <= inside, "must be at most what is in up_to")
    ends = [
        _read_ends(each, among, empty) for each, empty in ((smallest, np.inf), (largest, -np.inf))
    ]
    return CumulativeCounts(outside, inside, values, *ends)


def _read_ends(field: Field, among: NDArray[np.int64], empty: float) -> Floats:
    """Return the smallest or largest value of each part; of one without values an infinite one."""
    values = arrays.rows_of(field, *among.shape)
    right = np.isnan(values) == (among == 0)
    arrays.require(field, values, right, "must be a number where there are values, else NaN")
    return np.where(among == 0, empty, values)


def _read_classes(field: Field, training: Baseline, rows: int) -> dict[int, Tallies]:
    divided = training.divided
    return {
        k: _read_tallies(each, divided[k], rows)
        for k, each in zip(divided, field.items(len(divided)), strict=True)
    }


def _read_tallies(field: Field, divided: ColumnClasses, rows: int) -> Tallies:
    return {
        way: _read_range(each, divided, rows) if way == "range" else read_tally(each, rows)
        for way, each in zip(divided.before, field.members(*divided.before), strict=True)
    }


def _read_range(field: Field, divided: ColumnClasses, most: int) -> ValueCounts:
    """Return how many dates there are, and how many before and after those of training."""
    if field.value == [0]:
        return ValueCounts()
    total, before, after = field.items(3)
    rows = total.integer(0, most)
    early = before.integer(0, rows)
    late = after.integer(0, rows - early)
    return ValueCounts(dict(zip(divided.ends, (early, late), strict=True)), rows)


def change_to_document(change: ChangeTest) -> dict[str, Any]:
    """Return what has been seen of a stream as the document has it."""
    return {
        "rows": change.rows,
        "outliers": change.outliers,
        "place": change.place,
        "sources": change.sources,
        "log_e_value": change.log_e_value,
        "column": change.column,
        "streams": [
            {"seen": each.seen, "wealth": each.wealth, "share": each.share}
            for each in change.streams.values()
        ],
    }


def read_change(field: Field, change: ChangeTest) -> None:
    """Give a test that has seen no row what another had seen."""
    rows, outliers, place, sources, log_e_value, column, streams = field.members(
        "rows", "outliers", "place", "sources", "log_e_value", "column", "streams"
    )
    change.rows = rows.integer(0, _MOST_ROWS)
    change.outliers = outliers.integer(0, change.rows)
    change.place = place.integer(0, BLOCK - 1)
    change.sources = sources.integer(1, LARGEST_INTEGER)
    change.log_e_value = float(log_e_value.number())
    if change.log_e_value < 0.0:
        log_e_value.refuse(f"must be at least 0, not {change.log_e_value!r}")
    change.column = None if column.is_null() else column.text([*filter(None, change.streams)])
    tests = change.streams.values()
    for stream, each in zip(tests, streams.items(len(tests)), strict=True):
        _read_stream(each, stream, change.rows)


def _read_stream(field: Field, stream: ConformalMartingale, most: int) -> None:
    seen, wealth, share = field.members("seen", "wealth", "share")
    counts = arrays.integers(seen, len(stream.seen), least=0, most=most)
    rows = int(counts.sum())
    if rows > most:
        seen.refuse(f"adds up to {rows}, there are {most} rows")
    starts = min(-(-rows // BLOCK), MOST_STARTS)
    stream.restore(
        counts, arrays.floats(wealth, starts, BETS), arrays.floats(share, starts, most=0.0)
    )
