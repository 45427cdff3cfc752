"""A file that is not exactly a model file is refused, with the path of the field to blame."""

import base64
import copy
import json
import os
import pickle
import zlib
from threading import Thread

import numpy as np
import pytest

import refold
from refold import REF, CreasedREF, ModelFileError
from refold.modelfile.document import from_bytes, to_bytes
from refold.modelfile.json_text import Budget, scan
from refold.models.files import KINDS, check_columns
from tests.growth import assert_linear
from tests.modelfile.conftest import MISSING, fitted, packed, put, sealed, unpacked


def document_of(model):
    return unpacked(json.loads(to_bytes(model, KINDS, "0.1.0")))


@pytest.fixture
def exact(rows):
    return document_of(fitted("calibrated", rows))


@pytest.fixture
def sketched(rows):
    return document_of(fitted("stream", rows))


def refusal(document):
    with pytest.raises(ModelFileError) as caught:
        from_bytes(sealed(document), KINDS)
    return caught.value


WRONG = {
    "format": ["other", 1, None],
    "format_version": [2, 0, "1", 1.0, True, None],
    "refold_version": [1, None],
    "created": ["yesterday", "2026-13-01T00:00:00Z", 5],
    "estimator": ["SVC", "__class__", 3],
    "n_features": [0, -1, 3.0, "3", True, 2**70],
    "feature_names": ["abc", {}],
    "feature_names[1]": [1, None],
    "feature_names[2]": ["width [mm]"],
    "parameters": [[], None],
    "parameters.n_iter": [0, 1.5, "101", True, None, [], 2**70],
    "parameters.fold": ["cube", "", 1, None, ["abs"], {"__reduce__": "os.system"}],
    "parameters.distance": ["l3", 2],
    "parameters.threshold": [-1, "1", None, True],
    "parameters.max_gain": [0.5, "inf"],
    "parameters.n_jobs": [0, 1.5, False],
    "parameters.n_bins": [3, 2**30],
    "engine": ["auto", "gpu", None, 1],
    "levels": ["auto", "first", 1],
    "max_gain": [0.5, "auto", None, True],
    "noticed": [{}, 1, "all is well"],
    "threshold": [-1e-9, "1", None, False],
    "alpha": [0, 1, -0.1, "0.1", True],
    "chain": [[], None],
    "chain.fold": ["cube", None],
    "chain.n_iter": [0, True],
    "chain.levels": [None, [1, 1, 1], {}, "AAAA"],
    "chain.levels.dtype": ["float64", "float32", "uint8", "int128"],
    "chain.levels[1]": [0, 102],
    "chain.gain[0]": [-1.0, np.nan, np.inf],
    "chain.shifts[0][2]": [np.nan, -np.inf],
    "chain.scales[100][2]": [0.0, -1.0, np.nan],
    "calibration": [[], 1],
    "calibration.source": ["guessed", None],
    "calibration.scores[0]": [-0.5],
    "calibration.scores[5]": [0.0],
    "calibration.weights[3]": [-1.0],
    "summary": [None],
    "summary.rows": [0, -5, 1.5],
    "summary.weight": [0, -1.0, None],
    "summary.sampled": [0, 10**6],
    "summary.missing[0]": [-1.0],
    "summary.high[0]": [-1e300],
    "summary.quantiles[5][1]": [1e300, -1e300],
    "summary.box.high[0]": [-1e300],
    "summary.box.unit[0]": [0.0],
    "summary.box.levels.lengths[0]": [257],
}


@pytest.mark.parametrize(
    ("path", "value"), [(path, value) for path, values in WRONG.items() for value in values]
)
def test_a_wrong_value_is_named(exact, path, value):
    exact = packed(exact) if ".dtype" in path else exact
    put(exact, path, value)
    assert refusal(exact).where == path


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("noticed[0]", []),
        ("noticed[0].kind", None),
        ("noticed[0].message", 5),
        ("noticed[0].column", 0),
        ("noticed[0].rows", [-1]),
        ("noticed[0].rows", 3),
        ("noticed[0].values", [None]),
        ("noticed[0].values", [True]),
        ("noticed[0].advice", MISSING),
        ("noticed[0].colour", "red"),
    ],
)
def test_a_wrong_finding_is_named(rows, path, value):
    rows[100:, 1] = -9.0
    document = document_of(fitted("weights", rows))
    assert document["noticed"][0]["column"] == "x1"
    put(document, path, value)
    error = refusal(document)
    assert error.where.startswith("noticed[0]")


def test_a_rate_without_a_calibration_is_refused(exact):
    put(exact, "calibration", None)
    put(exact, "alpha", 0.05)
    assert refusal(exact).where == "alpha"


WRONG_SKETCH = {
    "sketch": [None, [], 1],
    "summary": [{}],
    "sketch.n_bins": [0, 2**25, 64.0],
    "sketch.rows": [0],
    "sketch.weight": [0.0, -1.0],
    "sketch.exponent[1]": [2000, -2000],
    "sketch.values[1]": [-1],
    "sketch.missing[1]": [-1.0],
    "sketch.high[1]": [-1e300],
    "sketch.lengths": [np.array([64, 64, 65]), [], None],
    "sketch.lengths[1]": [0, -1, 2**40],
    "sketch.bins": [np.arange(65), [], None],
    "sketch.counts[7]": [np.nan, np.inf, 0.0, -1.0],
    "sketch.positions[7]": [np.nan, -np.inf, -1.0, 1e6],
    "sketch.bins[7]": [-(2**62)],
}


@pytest.mark.parametrize(
    ("path", "value"), [(path, value) for path, values in WRONG_SKETCH.items() for value in values]
)
def test_a_wrong_value_in_a_sketch_is_named(sketched, path, value):
    put(sketched, path, value)
    assert refusal(sketched).where.startswith(path)


@pytest.mark.parametrize(
    ("part", "change", "said"),
    [
        ("counts", lambda counts: counts * 2.0, "those of column 0 and what is missing add up to"),
        ("bins", lambda bins: bins + 2**40, "those of column 0 must lie between its smallest"),
    ],
)
def test_bins_that_are_not_those_of_the_rows_are_refused(sketched, part, change, said):
    put(sketched, f"sketch.{part}", change(sketched["sketch"][part]))
    error = refusal(sketched)
    assert (error.where, said in error.problem) == (f"sketch.{part}", True)


def encoded(raw, n=3, dtype="float64"):
    text = base64.b64encode(zlib.compress(raw)).decode()
    return {"dtype": dtype, "shape": [n], "zlib": text}


GOOD = encoded(np.ones(3).tobytes())
DEFLATED = base64.b64decode(GOOD["zlib"])
NOT_CANONICAL = zlib.compress(np.zeros(3).tobytes(), 0)  # 35 bytes: two bits are left over
BAD_ARRAYS = {
    "no such type": (".dtype", {**GOOD, "dtype": "object"}),
    "a type that is too wide": (".dtype", {**GOOD, "dtype": "int64"}),
    "a type that is no text": (".dtype", {**GOOD, "dtype": 8}),
    "a surplus member": ("", {**GOOD, "order": "F"}),
    "no shape": ("", {"dtype": "float64", "zlib": GOOD["zlib"]}),
    "another shape": (".shape[0]", {**GOOD, "shape": [10**12]}),
    "a negative shape": (".shape[0]", {**GOOD, "shape": [-3]}),
    "a shape that is no whole number": (".shape[0]", {**GOOD, "shape": [3.0]}),
    "more axes": (".shape", {**GOOD, "shape": [3, 1]}),
    "more bytes than declared": (".zlib", encoded(np.ones(4).tobytes())),
    "a bomb": (".zlib", encoded(bytes(10**7))),
    "fewer bytes than declared": (".zlib", encoded(np.ones(2).tobytes())),
    "half a number": (".zlib", encoded(np.ones(3).tobytes()[:-4])),
    "cut off": (".zlib", {**GOOD, "zlib": base64.b64encode(DEFLATED[:-2]).decode()}),
    "something behind": (".zlib", {**GOOD, "zlib": base64.b64encode(DEFLATED + b"x").decode()}),
    "a second stream": (".zlib", {**GOOD, "zlib": base64.b64encode(DEFLATED * 2).decode()}),
    "another checksum": (
        ".zlib",
        {**GOOD, "zlib": base64.b64encode(DEFLATED[:-1] + b"x").decode()},
    ),
    "white space": (".zlib", {**GOOD, "zlib": GOOD["zlib"][:8] + "\n" + GOOD["zlib"][8:]}),
    "letters of URLs": (".zlib", {**GOOD, "zlib": "-_-_" + GOOD["zlib"][4:]}),
    "no padding": (".zlib", {**GOOD, "zlib": base64.b64encode(NOT_CANONICAL)[:-1].decode()}),
    "bits that are left over": (
        ".zlib",
        {**GOOD, "zlib": base64.b64encode(NOT_CANONICAL)[:-2].decode() + "F="},
    ),
    "padding in the middle": (".zlib", {**GOOD, "zlib": "eA==" + GOOD["zlib"]}),
    "no text": (".zlib", {**GOOD, "zlib": None}),
    "nothing": (".zlib", {**GOOD, "zlib": ""}),
    "no base64": (".zlib", {**GOOD, "zlib": "é" * 8}),
    "a long text": (".zlib", {**GOOD, "zlib": "e" * 10_000}),
}


@pytest.mark.parametrize("kind", BAD_ARRAYS)
def test_an_array_that_is_not_what_it_says_is_refused(exact, kind):
    where, value = BAD_ARRAYS[kind]
    assert len(NOT_CANONICAL) % 3 == 2
    put(exact, "chain.gain", GOOD)
    from_bytes(sealed(exact), KINDS)  # so much is right
    put(exact, "chain.gain", value)
    assert refusal(exact).where == f"chain.gain{where}"


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "float32", "float64"])
def test_an_array_may_be_of_any_type_that_holds_its_numbers(exact, dtype):
    gain = np.array([1, 2, 3], dtype=dtype)
    put(exact, "chain.gain", encoded(gain.tobytes(), dtype=dtype))
    assert from_bytes(sealed(exact), KINDS).chain_.gain.tolist() == [1.0, 2.0, 3.0]


def members(value, path=""):
    """Yield the path of every member of every object but the parameters."""
    if isinstance(value, dict) and path != "parameters":
        for key, inner in value.items():
            here = f"{path}.{key}" if path else key
            yield here
            yield from members(inner, here)


def test_every_member_must_be_there_and_no_other(rows):
    document = document_of(fitted("calibrated", rows))
    for path in members(document):
        if path == "sha256":
            continue
        changed = copy.deepcopy(document)
        put(changed, path, MISSING)
        error, parent = refusal(changed), path.rpartition(".")[0]
        assert (error.where, path.rpartition(".")[2] in error.problem) == (parent, True)
        if isinstance(eval_at(document, parent), dict) and parent:
            changed = copy.deepcopy(document)
            put(changed, f"{parent}.surplus", 1)
            assert refusal(changed).where == parent


def eval_at(document, path):
    for step in path.split(".") if path else []:
        document = document[step]
    return document


def test_a_parameter_that_an_older_file_lacks_takes_its_default(exact):
    del exact["parameters"]["n_bins"]
    assert from_bytes(sealed(exact), KINDS).n_bins == REF().n_bins


def test_a_parameter_that_nobody_knows_is_refused(exact):
    exact["parameters"]["gamma"] = 1
    error = refusal(exact)
    assert (error.where, "'gamma'" in error.problem) == ("parameters", True)


@pytest.mark.parametrize(
    ("path", "shape", "where"),
    [
        ("chain.levels", (4,), "[0]"),
        ("chain.gain", (0,), "[0]"),
        ("chain.shifts", (100, 3), "[0]"),
        ("chain.shifts", (101, 2), "[1]"),
        ("chain.shifts", (303,), ""),
        ("calibration.weights", (3,), "[0]"),
        ("summary.low", (4,), "[0]"),
        ("summary.quantiles", (256, 3), "[0]"),
    ],
)
def test_wrong_lengths_are_named(exact, path, shape, where):
    put(exact, path, np.ones(shape, dtype=int))
    assert refusal(exact).where == f"{path}.shape{where}"


def test_names_that_are_too_few_are_named(exact):
    put(exact, "feature_names", ["a", "b"])
    error = refusal(exact)
    assert (error.where, "has 2 items where 3" in error.problem) == ("feature_names", True)


def test_numbers_that_overflow_together_are_refused(exact):
    exact["chain"]["scales"][:, 1] = 1e-200
    assert "feature 1" in refusal(exact).problem


def test_the_reference_engine_takes_what_only_compiled_ones_cannot(rows, tmp_path):
    # The literal floor of 1e-3 at each of 200 levels: the product of the scales underflows.
    X = np.hstack([rows, np.full((len(rows), 1), 7.0)])
    model = REF(engine="reference", max_gain=None, n_iter=200).fit(X)
    loaded = from_bytes(to_bytes(model, KINDS, "0"), KINDS)
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))


LITERALS = {
    b"NaN": "NaN is not a number",
    b"Infinity": "Infinity is not a number",
    b"-Infinity": "-Infinity is not a number",
    b"1e999": "too large|finite",
    b"-1e999": "too large|finite",
    b"1" * 5000: "5000 digits",
    b"1" * 1_000_000: "1000000 digits",
    b'{"a": 1, "a": 2}': "key 'a' more than once",
}


@pytest.mark.parametrize("literal", LITERALS, ids=lambda literal: literal[:12].decode())
@pytest.mark.parametrize("where", ["threshold", "chain.n_iter", "chain.shifts.shape[1]"])
def test_literals_that_are_no_numbers_are_named(exact, literal, where):
    exact = packed(exact)
    put(exact, where, 123456.75)
    del exact["sha256"]
    body = json.dumps(exact, ensure_ascii=False).encode().replace(b"123456.75", literal)
    raw = with_digest(body)
    with pytest.raises(ModelFileError, match=f"{LITERALS[literal]}|must be a whole") as caught:
        from_bytes(raw, KINDS)
    assert caught.value.where == where


def with_digest(body):
    """Seal a document that is not even JSON, with the package's own checksum."""
    return body.rstrip()[:-1] + f', "sha256": "{scan(body, Budget()).digest}"}}'.encode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda raw: b"", "empty"),
        (lambda raw: b" \n", "not JSON"),
        (lambda raw: b"\xef\xbb\xbf" + raw, "byte order mark"),
        (lambda raw: raw + b"x", "not JSON: Extra data"),
        (lambda raw: raw + raw, "not JSON: Extra data"),
        (lambda raw: raw[:-3], "not JSON"),
        (lambda raw: raw[: len(raw) // 2], "not JSON"),
        (lambda raw: raw.replace("长".encode(), b"\xff\xfe"), "not UTF-8"),
        (lambda raw: raw.decode().encode("utf-16"), "not UTF-8"),
        (lambda raw: raw.replace(b'"format"', b'"format": 1, "format"', 1), "more than once"),
        (lambda raw: raw.replace("长度".encode(), b"length"), "checksum"),
        (lambda raw: raw.replace(b'"sha256": "', b'"sha256": "0'), "checksum"),
        (lambda raw: b'{"a": 1}', "no 'format'"),
        (lambda raw: b"[]", "must be an object"),
        (lambda raw: b"null", "must be an object, not null"),
        (lambda raw: b"NaN", "NaN is not a number"),
        (lambda raw: b'"' + b"x" * 10_000 + b'"', "more than 4096 bytes"),
        (lambda raw: pickle.dumps(REF()), "not"),
    ],
)
def test_what_is_not_even_a_document_is_refused(rows, change, message):
    raw = to_bytes(fitted("calibrated", rows), KINDS, "0")
    assert from_bytes(raw, KINDS).n_features_in_ == 3
    with pytest.raises(ModelFileError, match=message):
        from_bytes(change(raw), KINDS)


def test_half_a_surrogate_pair_is_no_name(exact):
    del exact["sha256"]
    body = json.dumps(packed(exact), ensure_ascii=False).encode().replace("长".encode(), rb"\ud800")
    with pytest.raises(ModelFileError, match=r"feature_names\[2\]: .*surrogate"):
        from_bytes(with_digest(body), KINDS)


def test_the_checksum_must_be_the_last_member(exact):
    moved = {"sha256": exact.pop("sha256"), **packed(exact)}
    with pytest.raises(ModelFileError, match=r"sha256: .*checksum"):
        from_bytes(json.dumps(moved, ensure_ascii=False).encode(), KINDS)


def test_errors_name_the_file_and_survive_pickling(tmp_path):
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ModelFileError, match=r"bad\.json: The file is not JSON.*line 1") as caught:
        refold.load(str(tmp_path / "bad.json"))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.problem) == (str(caught.value), caught.value.problem)


def test_folders_and_missing_files(tmp_path):
    with pytest.raises(ModelFileError, match="folder"):
        refold.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        refold.load(tmp_path / "nothing.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_can_be_loaded_from(rows, tmp_path):
    raw = to_bytes(fitted("sketch", rows), KINDS, "0")
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_bytes, args=[raw])
    writer.start()
    assert refold.load(tmp_path / "pipe").n_features_in_ == 3
    writer.join()


@pytest.mark.growth
def test_a_key_that_is_there_twice_is_found_in_linear_time():
    def file(keys):
        return b"{" + b",".join(b'"%d":0' % (i % (keys - 1)) for i in range(keys)) + b"}"

    def load(raw):
        with pytest.raises(ModelFileError, match="key '0' more than once"):
            from_bytes(raw, KINDS)

    assert_linear(load, file, 5_000)


@pytest.mark.parametrize("engine", ["sketch", "exact", "auto"])
def test_parameters_that_no_model_can_learn_with_are_refused(engine, exact, sketched):
    document = sketched if engine == "sketch" else exact
    document["parameters"] |= {"engine": engine, "max_gain": None}
    error = refusal(document)
    assert error.where == "parameters"
    assert "max_gain=None" in error.problem


def test_a_model_that_could_not_go_on_learning_is_not_learned(rows):
    model = REF(engine="sketch").fit(rows).set_params(max_gain=None)
    for method in ("partial_fit", "forget"):
        with pytest.raises(ValueError, match="max_gain=None"):
            getattr(model, method)(rows)


@pytest.mark.parametrize("estimator", [REF(), CreasedREF(n_creases=1000)])
def test_too_many_columns_for_a_file_are_refused_before_they_are_learned(estimator):
    check_columns(estimator, 5000)
    with pytest.raises(ModelFileError, match="200,000 columns is too large for a model file"):
        check_columns(estimator, 200_000)
