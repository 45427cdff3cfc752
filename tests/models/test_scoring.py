"""What is said of features, put together from parts of a table."""

import numpy as np
import pytest

from refold.models.scoring import Attribution


def part(rng, n, *, told):
    whole = rng.random((3, n, 2))
    return Attribution(rng.random(n), whole[0], *(whole[1:] if told else (None, None)))


@pytest.mark.parametrize("told", [(True, True), (True, False), (False, False)])
def test_parts_are_put_together_and_what_one_does_not_say_is_filled(told, rng):
    parts = [part(rng, 3 + k, told=each) for k, each in enumerate(told)]
    whole = Attribution.joined(parts)
    for k, rows in enumerate((slice(0, 3), slice(3, 7))):
        np.testing.assert_array_equal(whole.distances[rows], parts[k].distances)
        np.testing.assert_array_equal(whole.parts[rows], parts[k].parts)
        for found, own, fill in (
            (whole.expected, parts[k].expected, np.nan),
            (whole.alone, parts[k].alone, 0.0),
        ):
            assert (found is None) == (not any(told))
            if found is not None:
                expected = np.full_like(parts[k].parts, fill) if own is None else own
                np.testing.assert_array_equal(found[rows], expected)
