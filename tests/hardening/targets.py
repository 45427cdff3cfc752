"""What may come of any bytes: an answer or an error of ours, in little memory and time."""

from __future__ import annotations

import io
import re
import sys
from contextlib import suppress
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd

from refold import REF, Detector, ModelFileError
from refold.modelfile.document import from_bytes
from refold.modelfile.json_text import Budget, scan
from refold.models.files import KINDS
from refold.tabular import InputError, TrainingSelection, open_table, read_training
from refold.tabular.features import Features

_CHECKSUM = re.compile(rb'"sha256"\s*:\s*"([0-9a-f]{64})"')
_CELLS = ["A", "zzz", "1e300", "-1", "31.12.2025 23:59"]
_ROWS = np.array([[0.1], [-3.0], [1e300], [-1e308], [5e-324]])


def read_model(raw):
    """Load a model file, with the right checksum if it has a wrong one, and use the model."""
    try:
        model = from_bytes(_sealed(raw), KINDS)
    except ModelFileError:
        return
    if model.n_features_in_ > 1000:
        return
    if isinstance(model, Detector):
        _judge_cells(model)
        return
    model.__dict__.pop("feature_names_in_", None)
    rows = np.repeat(_ROWS, model.n_features_in_, axis=1)
    assert np.isfinite(model.score_samples(rows)).all()
    parts = model.contributions(rows) if isinstance(model, REF) else model._reasons(rows).drop
    assert np.isfinite(parts).all()
    assert set(model.predict(rows)) <= {-1, 1}
    assert np.isfinite(model.summary_.quantiles).all()


def _judge_cells(model):
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
    table = pd.DataFrame({name: pd.Series(_CELLS, dtype=object) for name in names})
    assert np.isfinite(model.score_samples(table)).all()
    assert set(model.predict(table)) <= {-1, 1}


def _sealed(raw):
    found = list(_CHECKSUM.finditer(raw))
    if not found:
        return raw
    begin, end = found[-1].span(1)
    return raw[:begin] + scan(raw, Budget()).digest.encode() + raw[end:]


def read_table(raw):
    """Read a table in all the ways there are: its cells, its numbers, rows to learn from."""
    for way in (_cells, _numbers, _training):
        stdin = SimpleNamespace(buffer=io.BytesIO(raw))
        with (
            suppress(InputError),
            mock.patch.object(sys, "stdin", stdin),
            open_table("-") as table,
        ):
            way(table)


def _cells(table):
    rows = 0
    for block in table.blocks():
        assert block.first == rows + 1
        assert {len(column) for column in block.columns.values()} <= {block.rows}
        assert block.where(block.rows - 1)
        rows += block.rows
    assert table.rows in (None, rows)


def _numbers(table):
    features = Features(table.names, table)
    for block in table.blocks(features.columns, numbers=features.columns, rows=3):
        X = features.matrix(block)
        assert X.shape == (block.rows, len(table.names))
        assert not np.isinf(X).any()


def _training(table):
    names = table.names
    found = read_training(table, TrainingSelection(columns=names))
    assert found.table.shape == (found.rows_read, len(names))
