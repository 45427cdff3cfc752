"""Model files that are almost right, most of them with a checksum that is."""

import json
import re
from math import isfinite

from refold.modelfile.text import digest

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')
NUMBERS = """0 -0.0 1 -1 2 3 1.5 -1.5 1e308 -1e308 5e-324 1e-320 1e150 1e-200 16777216
    1e999 9007199254740993 9223372036854775807 18446744073709551616 NaN Infinity -Infinity"""
OTHERS = """true false null [] {} [1] [[]] {"a":1} "" "a" "1" 01 .5 1. +1 ' // "\\x" "\\ud800"
    "abs" "sqr" "tanh" "sketch" "exact" "reference" "l2" "all" "REF" "held-out" "__class__"
    "eJxjYGBgAAAABAAB" """
LONG = ["1" * 5000, "9" * 400, "[" * 2000, "[" * 20 + "]" * 20, '"' + "A" * 5000 + '"']
ODD = [*NUMBERS.split(), *OTHERS.split(), *LONG]


def sealed(body):
    """Return a body with the checksum of what it has become."""
    text = body.rstrip().removesuffix(b"}")
    return text + b',"sha256":"' + digest(body).encode() + b'"}'


class Mutations:
    """Endless variations of a file, the same for the same random numbers."""

    def __init__(self, raw, random):
        document = json.loads(raw)
        del document["sha256"]
        body = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        self.raw, self.random = raw, random
        self.body, self.tokens = body.encode(), TOKEN.findall(body)
        # Most numbers are quantiles, one like the other: half of all changes are elsewhere.
        many = self.tokens.index('"quantiles"') if '"quantiles"' in self.tokens else len(body)
        self.numbers = [i for i, token in enumerate(self.tokens) if token[-1].isdigit()]
        self.rare = [i for i in range(len(self.tokens)) if not many + 8 < i < many + 500]

    def __iter__(self):
        kinds = (self._bytes, self._tokens, self._tokens, self._tokens)
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

    def _place(self):
        everywhere = self.random.random() < 0.5
        return (
            self.random.randrange(len(self.tokens)) if everywhere else self.random.choice(self.rare)
        )

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
