"""Search for model files that break the reader: ``make fuzz``."""

import sys
from random import Random

import atheris

from tests.hardening.fuzzing import instrument
from tests.hardening.targets import read_model
from tests.modelfile.mutations import Mutations


def mutate(raw, most, seed):
    """Change bytes, or where it is JSON its words, so that it stays JSON."""
    random = Random(seed)
    if random.random() < 0.3:
        return atheris.Mutate(raw, most)
    try:
        return next(iter(Mutations(raw, random)))[:most]
    # not enough like a model
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return atheris.Mutate(raw, most)


instrument()
atheris.Setup(sys.argv, read_model, custom_mutator=mutate)
atheris.Fuzz()
