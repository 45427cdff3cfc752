"""Training rows in a model file: a sample to calibrate on, and those that wait to be enough."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold._typing import Floats
from refold.modelfile import arrays
from refold.modelfile.fields import LARGEST_INTEGER, Field
from refold.models.creased._sample import SIZE, Sample

Chunks = tuple[tuple[Floats, Floats], ...]


def written(sample: Sample) -> dict[str, Any]:
    """Return a sample as the document has it; its seed is the recipe's."""
    return {
        "seen": sample.seen,
        "keys": arrays.written(sample.keys),
        "rows": arrays.written_rows(sample.rows),
        "weights": arrays.written(sample.weights),
    }


def read(field: Field, n_features: int, seed: int) -> Sample:
    """Return a checked sample."""
    seen, keys, rows, weights = field.members("seen", "keys", "rows", "weights")
    r = arrays.length_of(keys, SIZE, least=0)
    drawn = arrays.floats(keys, r)
    arrays.require(keys, drawn, (drawn >= 0.0) & (drawn < 1.0), "must be from 0 to below 1")
    counts = arrays.floats(weights, r)
    arrays.require(weights, counts, counts > 0.0, "must be above 0")
    kept = arrays.rows_of(rows, r, n_features)
    empty = np.isnan(kept).all(axis=1)
    if empty.any():
        rows.at(int(np.argmax(empty))).refuse("must have a value")
    return Sample(seed, seen.integer(0), drawn, kept, counts)


def chunks_written(chunks: Chunks) -> list[dict[str, Any]]:
    """Return waiting rows as the document has them, chunk by chunk as they came."""
    return [
        {"rows": arrays.written_rows(rows), "weights": arrays.written(weights)}
        for rows, weights in chunks
    ]


def read_chunks(field: Field, n_features: int) -> Chunks:
    """Return checked waiting rows; there is at least one chunk."""
    if type(field.value) is not list or not field.value:
        field.refuse("must be a list of chunks of rows where there are no creases")
    return tuple(_chunk(chunk, n_features) for chunk in field.items(len(field.value)))


def _chunk(field: Field, n_features: int) -> tuple[Floats, Floats]:
    rows, weights = field.members("rows", "weights")
    counts = arrays.floats(weights, arrays.length_of(weights, LARGEST_INTEGER))
    arrays.require(weights, counts, counts >= 0.0, "must not be negative")
    return arrays.rows_of(rows, len(counts), n_features), counts


def sample_of(chunks: Chunks, n_features: int, seed: int) -> Sample:
    """Return the sample of rows that wait, as it was when they came."""
    sample = Sample.empty(seed, n_features)
    for rows, weights in chunks:
        sample = sample.plus_rows(rows, weights)
    return sample
