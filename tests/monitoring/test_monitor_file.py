"""A monitor put away as a file goes on as if it had not been; a bad file is told where."""

import itertools
import json
from random import Random

import numpy as np
import pandas as pd
import pytest

from refold import REF, Detector, ModelFileError
from refold.monitoring import DriftMonitor
from tests.modelfile.mutations import Mutations
from tests.monitoring.test_tables import rows_of


@pytest.fixture(scope="module")
def model():
    return Detector(method="ref", alpha=0.05).fit(rows_of(np.random.default_rng(1), 600))


@pytest.fixture(scope="module")
def new():
    new = rows_of(np.random.default_rng(2), 500)
    new.loc[250:, "torque"] += 1.5
    new.loc[::9, "torque"] = np.nan
    new.loc[::40, "carrier"] = "ZZ, new"
    new.loc[::50, "at"] = pd.Timestamp("2031-01-01")
    return new


def shown(monitor):
    change = monitor.change().to_dict() if monitor._change else None
    return monitor.result().to_dict() if monitor._counts.rows else None, change


@pytest.mark.parametrize("watch", [True, False])
def test_a_saved_monitor_goes_on_to_the_bit(model, new, tmp_path, watch):
    path = tmp_path / "monitor.json"
    kept, saved = (DriftMonitor(model, alpha=0.03, watch=watch) for _ in range(2))
    for begin in range(0, 500, 130):
        part = new[begin : begin + 130]
        saved.save(path)
        saved = DriftMonitor.load(path, model)
        assert shown(saved.update(part)) == shown(kept.update(part))
    assert saved.alpha == 0.03
    other = DriftMonitor(model, watch=watch).update(new[:90])
    other.save(path)
    assert shown(saved.merge(DriftMonitor.load(path, model))) == shown(kept.merge(other))


def test_a_monitor_of_numbers_that_are_not_calibrated_can_be_saved(rng, tmp_path):
    model = REF().fit(rng.normal(size=(200, 2)))
    monitor = DriftMonitor(model).update(rng.normal(1.0, size=(5000, 2)))
    monitor.save(tmp_path / "monitor.json")
    again = DriftMonitor.load(tmp_path / "monitor.json", model)
    more = rng.normal(1.0, size=(300, 2))
    assert shown(again.update(more)) == shown(monitor.update(more))


def test_a_monitor_of_another_model_is_refused(model, new, tmp_path):
    path = tmp_path / "monitor.json"
    DriftMonitor(model).update(new).save(path)
    other = Detector(method="ref", alpha=0.05).fit(rows_of(np.random.default_rng(3), 600))
    with pytest.raises(ModelFileError, match=r"monitor\.json: model: .* another model"):
        DriftMonitor.load(path, other)


def test_another_file_is_refused(model, tmp_path):
    path = tmp_path / "model.json"
    path.write_text('{"format": "refold model", "format_version": 1}')
    with pytest.raises(ModelFileError, match="format: must be one of"):
        DriftMonitor.load(path, model)
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(ModelFileError, match=r"model\.json"):
        DriftMonitor.load(path, model)


def test_a_changed_file_is_refused_or_a_monitor_that_works(model, new, tmp_path):
    path = tmp_path / "monitor.json"
    DriftMonitor(model).update(new[:150]).save(path)
    refused = set()
    for raw in itertools.islice(Mutations(path.read_bytes(), Random(0)), 80):
        path.write_bytes(raw)
        try:
            monitor = DriftMonitor.load(path, model)
        except ModelFileError as error:
            refused.add(error.where.partition("[")[0])
        else:
            json.dumps(shown(monitor.update(new[:5])))
    assert len(refused) > 10
