"""Advice to callers of the library, said to people who do not write Python."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

# As `refold.columns.role_findings.mended` writes it.
_IN_PYTHON = re.compile(
    r'roles=\{("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*"): "([^"\\]*)"\}'
)


def reworded(sentence: str, say: Callable[[str, str], str]) -> str:
    """Return a sentence in which columns are given roles in other words.

    Parameters
    ----------
    sentence : str
        What the library says.
    say : callable
        Takes a column and a role, and says how the one is given the other.

    Returns
    -------
    str

    Examples
    --------
    >>> from refold.base.advice import reworded
    >>> reworded('To leave it out: roles={"day": "ignore"}.', lambda name, role: f"{name}={role}")
    'To leave it out: day=ignore.'
    """
    return _IN_PYTHON.sub(lambda found: say(json.loads(found[1]), found[2]), sentence)
