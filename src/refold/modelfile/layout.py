"""From JSON values to the bytes of a file that people can read."""

from __future__ import annotations

import json
from typing import Any

_STEP = "  "


def laid_out(value: Any, indent: str = "") -> str:
    """Return JSON, a member or a row per line: numbers that belong together stand together.

    >>> print(laid_out({"name": "width", "shifts": [[1.5, 0.25], [2.0, -0.5]]}))
    {
      "name": "width",
      "shifts": [
        [1.5, 0.25],
        [2.0, -0.5]
      ]
    }
    """
    inner = indent + _STEP
    if isinstance(value, dict) and "zlib" not in value:
        lines = [f"{_plain(key)}: {laid_out(member, inner)}" for key, member in value.items()]
        return _block("{", lines, "}", indent)
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        return _block("[", [laid_out(item, inner) for item in value], "]", indent)
    return _plain(value)


def _block(opening: str, lines: list[str], closing: str, indent: str) -> str:
    between = f",\n{indent}{_STEP}"
    return f"{opening}\n{indent}{_STEP}{between.join(lines)}\n{indent}{closing}"


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
