"""A value beside what is normal, as a small picture."""

import math
import re

import pytest

from refold.explanation import Reason
from refold.explanation.gauges import gauge

NORMAL = ((10.0, 20.0), (30.0, 40.0))  # drawn from -20 to 70


def drawn(value, normal=NORMAL, expected=None):
    """Return the bands, the mark and the tick of a picture."""
    svg = gauge(Reason("heat", value, 1.0, 1.0, normal, True, 0.0, expected=expected))
    bands = re.findall(r'class="band" x="([\d.]+)" y="3" width="([\d.]+)"', svg)
    mark, tick = (re.findall(rf'class="{name}" d="([^"]+)"', svg) for name in ("mark", "tick"))
    return bands, "".join(mark), "".join(tick)


@pytest.mark.parametrize(
    ("value", "mark"),
    [
        (25.0, "M56 8a"),
        (-20.0, "M0 8a"),
        (70.0, "M112 8a"),
        (71.0, "M120 8l-9"),
        (-1e300, "M0 8l9"),
    ],
)
def test_a_gauge_has_a_dot_or_an_arrow_at_the_value(value, mark):
    bands, drawn_mark, tick = drawn(value)
    assert drawn_mark.startswith(mark)
    assert bands == [("40", "13.33"), ("66.67", "13.33")]
    assert tick == ""


def test_a_gauge_without_a_value_or_a_width():
    assert drawn(math.nan, expected=25.0)[1:] == ("", "M60 1V15")
    constant = ((3.0, 3.0),)
    assert drawn(3.0, constant)[1].startswith("M56 8a")
    assert drawn(3.1, constant)[1].startswith("M120 8l-9")
    assert "nan" not in str(drawn(1e308, ((-1e308, 1e308),), 0.0))
