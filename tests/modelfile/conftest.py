"""Models of every make, and documents that can be looked into and changed."""

import base64
import hashlib
import json
import zlib

import numpy as np
import pandas as pd
import pytest

from refold import REF

NAMES = ["width [mm]", 'Größe "ü"', "长度"]


def unpacked(value):
    """Return a document with NumPy arrays where it has bytes, as docs/modelfile.md says."""
    if isinstance(value, dict) and set(value) == {"dtype", "shape", "zlib"}:
        content = zlib.decompress(base64.b64decode(value["zlib"], validate=True))
        array = np.frombuffer(content, np.dtype(value["dtype"]).newbyteorder("<"))
        wide = {"i": np.int64, "f": np.float64, "u": np.uint8}[array.dtype.kind]
        return array.reshape(value["shape"]).astype(wide)
    if isinstance(value, dict):
        return {key: unpacked(each) for key, each in value.items()}
    return list(map(unpacked, value)) if isinstance(value, list) else value


def packed(value):
    """Return a document with bytes where it has NumPy arrays."""
    if isinstance(value, np.ndarray):
        if value.dtype == np.int64 and (np.abs(value) < 2**31).all():
            value = value.astype(np.int32)
        return {
            "dtype": value.dtype.name,
            "shape": list(value.shape),
            "zlib": base64.b64encode(zlib.compress(value.tobytes(), 1)).decode(),
        }
    if isinstance(value, dict):
        return {key: packed(each) for key, each in value.items()}
    return list(map(packed, value)) if isinstance(value, list) else value


def put(document, path, value):
    """Set what stands at a path such as chain.shifts[3][0]; of an array too."""
    steps = path.replace("[", ".").replace("]", "").split(".")
    parent, steps = None, [int(step) if step.isdigit() else step for step in steps]
    for number, step in enumerate(steps):
        if isinstance(document, np.ndarray):
            whole = (np.abs(value) < 2.0**63).all() and np.equal(value, np.trunc(value)).all()
            array = document.copy() if whole else document.astype(np.float64)
            array[tuple(steps[number:])] = value
            parent[steps[number - 1]] = array
            return
        if number == len(steps) - 1:
            if value is MISSING:
                del document[step]
            else:
                document[step] = value
            return
        parent, document = document, document[step]


MISSING = object()


def checksum(document):
    """What docs/modelfile.md says, in other words than the package's."""
    content = {key: value for key, value in document.items() if key != "sha256"}
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(document):
    """Return the bytes of a document, with the checksum that its content has."""
    content = {key: packed(value) for key, value in document.items() if key != "sha256"}
    return json.dumps({**content, "sha256": checksum(content)}, ensure_ascii=False).encode()


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(300, 3)) * [1.0, 1e-3, 1e6] + [5.0, 0.0, -1e7]
    X[:, 2] = np.round(X[:, 2], -6)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[0] = 0.5
    return X


def fitted(make, X):
    """Fit a model in one of the ways that a model can have come about."""
    table = pd.DataFrame(X, columns=NAMES)
    halves = table[: len(X) // 2], table[len(X) // 2 :]
    match make:
        case "calibrated":
            return REF().fit(halves[0]).calibrate(halves[1], alpha=0.1)
        case "rate":
            return REF(alpha=0.1).fit(table)
        case "weights":
            return REF(levels="all").fit(X, sample_weight=np.linspace(0.0, 2.0, len(X)))
        case "reference":
            return REF(engine="reference", max_gain=None, distance="l2").fit(X)
        case "sketch":
            return REF(engine="sketch", n_jobs=1).fit(table)
        case "coarse sketch":
            return REF(engine="sketch", n_bins=16, fold="sqr").fit(X, np.full(len(X), 0.7))
        case "stream":
            model = REF(engine="sketch", n_bins=64).partial_fit(table).partial_fit(halves[1])
            return model.forget(halves[1])
        case fold:
            return REF(fold=fold, n_iter=20, threshold=2).fit(table)


MAKES = ("calibrated", "rate", "weights", "reference", "sketch", "coarse sketch", "stream")
