"""Models on disk, and a client of the service that serves them."""

import numpy as np
import pandas as pd
import pytest
from palmerpenguins import load_penguins
from starlette.testclient import TestClient

import refold
from refold.service import ModelStore, Settings, create


@pytest.fixture(scope="session")
def penguins():
    return load_penguins()


@pytest.fixture(scope="session")
def models(tmp_path_factory, penguins):
    """A file of each kind of model, by the name that it is served under."""
    folder = tmp_path_factory.mktemp("models")
    X = np.random.default_rng(0).normal(size=(400, 3))
    kinds = {
        "ref": refold.REF(alpha=0.05).fit(X),
        "creased": refold.CreasedREF(n_creases=32).fit(X),
        "plain": refold.REF().fit(X),
        "numbers": refold.Detector(alpha=0.05).fit(pd.DataFrame(X).add_prefix("x")),
        "penguins": refold.Detector(alpha=0.05).fit(penguins),
        "penguins-ref": refold.Detector(method="ref", alpha=0.05).fit(penguins),
    }
    machine = np.arange(400) % 10
    fleet = pd.DataFrame({"machine": [f"M{k}" for k in machine], "heat": 30.0 * machine + X[:, 0]})
    kinds["fleet"] = refold.Detector(by="machine", alpha=0.05).fit(fleet)
    files = {}
    for name, model in kinds.items():
        files[name] = folder / f"{name}.json"
        refold.save(model, files[name])
    return files


@pytest.fixture
def log():
    return []


@pytest.fixture
def client_of(models, log):
    """Return a client of a service with some settings; no log reaches the terminal."""
    opened = []

    def client(**settings):
        asked = Settings(**settings)
        app = create(ModelStore(models, drift=asked.drift), asked, log.append)
        opened.append(TestClient(app, raise_server_exceptions=False))
        return opened[-1].__enter__()

    yield client
    for one in opened:
        one.__exit__(None, None, None)


@pytest.fixture
def client(client_of):
    return client_of()
