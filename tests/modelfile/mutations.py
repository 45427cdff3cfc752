"""Model files that are almost right, most of them with a checksum that is."""

import base64
import json
import re
import zlib
from math import isfinite

import numpy as np

from refold.modelfile.json_text import Budget, scan
from tests.modelfile.conftest import packed, unpacked

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')
NUMBERS = """0 -0.0 1 -1 2 3 1.5 -1.5 1e308 -1e308 5e-324 1e-320 1e150 1e-200 16777216
    1e999 9007199254740993 9223372036854775807 18446744073709551616 NaN Infinity -Infinity"""
OTHERS = """true false null [] {} [1] [[]] {"a":1} "" "a" "1" 01 .5 1. +1 ' // "\\x" "\\ud800"
    "abs" "sqr" "tanh" "sketch" "exact" "reference" "l2" "all" "REF" "held-out" "__class__"
    "eJxjYGBgAAAABAAB" """
LONG = ["1" * 5000, "9" * 400, "[" * 2000, "[" * 20 + "]" * 20, '"' + "A" * 5000 + '"']
ODD = [*NUMBERS.split(), *OTHERS.split(), *LONG]
DTYPES = ("int8", "int16", "int32", "int64", "uint8", "float32", "float64")
VALUES = (0.0, -0.0, 1.0, -1.0, 7.0, 1e308, -1e308, 5e-324, 1e150, 2.0**62, np.nan, np.inf, -np.inf)


def sealed(body):
    """Return a body with the checksum of what it has become."""
    text = body.rstrip().removesuffix(b"}")
    return text + b',"sha256":"' + scan(body, Budget()).digest.encode() + b'"}'


class Mutations:
    """Endless variations of a file, the same for the same random numbers."""

    def __init__(self, raw, random):
        document = json.loads(raw)
        del document["sha256"]
        body = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        self.raw, self.random = raw, random
        self.body, self.tokens = body.encode(), TOKEN.findall(body)
        self.numbers = [i for i, token in enumerate(self.tokens) if token[-1].isdigit()]
        self.document, self.paths = unpacked(document), []
        self._find_arrays(self.document, ())

    def _find_arrays(self, value, path):
        if isinstance(value, np.ndarray):
            self.paths.append(path)
        elif isinstance(value, dict | list):
            for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
                self._find_arrays(inner, (*path, key))

    def __iter__(self):
        kinds = (self._bytes, self._tokens, self._tokens, self._arrays, self._arrays)
        while True:
            yield self.random.choice(kinds)()

    def _bytes(self):
        """Flip, cut, repeat or insert bytes; half of the files get a new checksum."""
        random = self.random
        seal = random.random() < 0.5
        raw = bytearray(self.body if seal else self.raw)
        for _ in range(random.choice((1, 1, 1, 2, 5, 50))):
            at, to = sorted(random.randrange(len(raw) + 1) for _ in range(2))
            match random.randrange(5):
                case 0 if at < len(raw):
                    raw[at] ^= 1 << random.randrange(8)
                case 1 if at < len(raw):
                    raw[at] = random.randrange(256)
                case 2:
                    del raw[at : min(to, at + random.choice((1, 10, 1000)))]
                case 3:
                    raw[at:at] = raw[at : min(to, at + 100)]
                case _:
                    raw[at:at] = random.choice(ODD).encode()
        return sealed(bytes(raw)) if seal else bytes(raw)

    def _tokens(self):
        """Replace, remove, repeat or exchange tokens."""
        random = self.random
        tokens = self.tokens.copy()
        for _ in range(random.choice((1, 1, 1, 2, 4))):
            at, other = (self._place() for _ in range(2))
            match random.randrange(8):
                case 0 | 1 | 2:
                    tokens[at] = random.choice(ODD)
                case 3 | 4:
                    at = random.choice(self.numbers)
                    tokens[at] = self._like(tokens[at], tokens[other])
                case 5:
                    tokens[at], tokens[other] = tokens[other], tokens[at]
                case 6:
                    del tokens[at : at + random.choice((1, 2, 4))]
                    tokens += [" "] * 4  # so that places stay valid
                case _:
                    tokens[at] = f"{tokens[at]},{tokens[at]}"
        return sealed("".join(tokens).encode("utf-8", "surrogatepass"))

    def _arrays(self):
        """Change one or two arrays, whose bytes and shapes then mostly fit together."""
        random, document = self.random, self.document
        for path in random.choices(self.paths, k=random.choice((1, 1, 2))) if self.paths else ():
            array = self._changed(_at(self.document, path))
            document = _with(document, path, array if random.random() < 0.9 else self._bent(array))
        return sealed(json.dumps(packed(document), ensure_ascii=False).encode())

    def _changed(self, array):
        """Other numbers, some of them odd, or more or fewer of them."""
        random = self.random
        flat = array.ravel().copy()
        at = random.randrange(len(flat)) if len(flat) else 0
        with np.errstate(all="ignore"):
            match random.randrange(8) if len(flat) else 8:
                case 0 | 1:
                    value = random.choice(VALUES)
                    flat[at] = np.float64(value).astype(flat.dtype)
                case 2:
                    flat[at : at + 1] += np.array(random.choice((-1, 1, 2))).astype(flat.dtype)
                case 3:
                    scale = random.choice((-1.0, 0.0, 0.5, 1.0 + 1e-9, 2.0, 1e10, 1e-10, 1e150))
                    flat[at : at + 3] = (flat[at : at + 3] * scale).astype(flat.dtype)
                case 4:
                    other = random.randrange(len(flat))
                    flat[at], flat[other] = flat[other], flat[at]
                case 5:
                    flat = flat[::-1].copy()
                case 6:
                    return np.delete(array, at % len(array), axis=0)
                case 7:
                    return flat.astype(np.dtype(random.choice(DTYPES))).reshape(array.shape)
                case _:
                    return np.ones((1, *array.shape[1:]), dtype=array.dtype)
        return flat.reshape(array.shape)

    def _bent(self, array):
        """Bytes that are not what they are said to be."""
        random, written = self.random, packed(array)
        content = bytearray(base64.b64decode(written["zlib"]))
        match random.randrange(6):
            case 0:
                content[random.randrange(len(content))] ^= 1 << random.randrange(8)
            case 1:
                del content[random.randrange(len(content)) :]
            case 2:
                content += content[-random.randrange(1, 9) :]
            case 3:
                return written | {"dtype": random.choice((*DTYPES, "object", "<f8", ""))}
            case 4:
                shape = [random.choice((n, n + 1, 0, -n, 2**62)) for n in array.shape]
                return written | {"shape": random.choice((shape, shape[::-1], [*shape, 1], []))}
            case _:
                content = bytearray(zlib.compress(bytes(array.nbytes + random.choice((1, 10**6)))))
        return written | {"zlib": base64.b64encode(content).decode()}

    def _place(self):
        return self.random.randrange(len(self.tokens))

    def _like(self, token, other):
        """A token of the same sort: such files get the furthest."""
        try:
            value = float(token)
        except ValueError:
            return other
        if not isfinite(value):
            return other
        random = self.random
        scale = random.choice((-1.0, 0.5, 1.0 + 1e-9, 2.0, 1e10, 1e-10, 1e150))
        return repr(value * scale) if "." in token else str(int(value) + random.choice((-1, 1, 7)))


def _at(document, path):
    for step in path:
        document = document[step]
    return document


def _with(document, path, value):
    """Return a document with another value in one place."""
    if not path:
        return value
    changed = document.copy()
    changed[path[0]] = _with(document[path[0]], path[1:], value)
    return changed
