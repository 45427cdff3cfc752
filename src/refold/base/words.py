"""What users' files contain, as it may be shown to people."""

from __future__ import annotations

import re

# Controls (C0, DEL, C1), marks and overrides of the direction of writing, separators of lines, and
# bytes of file names that are no text: a terminal obeys them, or cannot show them.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Write characters that a terminal would obey as in JSON; all others stay as they are.

    Parameters
    ----------
    text : str
        Of one line, such as a name.

    Returns
    -------
    str

    Examples
    --------
    >>> print(printable("heat\x1b[2J\n°C"))
    heat\u001b[2J\u000a°C
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
