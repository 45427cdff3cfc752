"""The numbers of a table, as a model of numbers alone reads them."""

from types import SimpleNamespace

import numpy as np

from refold.tabular import InputError
from refold.tabular.features import Features, not_numbers


def read_numbers(table, *, ignore_text=False):
    """Return the columns of numbers and those that hold something else, or refuse the latter."""
    blocks = table.blocks(numbers=table.names)
    first = next(blocks)
    odd = not_numbers(first, table.names)
    if odd and not ignore_text:
        name, problem = next(iter(odd.items()))
        raise InputError(f"{table.name}: column {name!r} holds {problem}.")
    names = [name for name in table.names if name not in odd]
    features = Features(names, table)
    parts = [features.matrix(first), *map(features.matrix, blocks)]
    return SimpleNamespace(names=names, X=np.concatenate(parts), ignored=list(odd))
