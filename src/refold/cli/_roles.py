"""What columns are, as the option --roles says it."""

from __future__ import annotations

import json
import re

import typer

# A name, in quotes if it has a comma or an equals sign; a role; behind a colon, how it is written.
_ITEM = re.compile(
    r'\s*(?:"((?:[^"]|"")+)"|([^",=\s][^,=]*?))\s*=\s*'
    r'(?:(number:[.,])|(date):"([^"]*)"|([^,"]*?))\s*(?:,|$)'
)
# As `refold.columns.role_findings.mended` writes it.
_IN_PYTHON = re.compile(
    r'roles=\{("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*"): "([^"\\]*)"\}'
)


def roles_in(text: str | None) -> dict[str, str]:
    """Read roles, such as ``shift=category,day=date:%d/%m/%Y,price=number:,``."""
    roles, at = {}, 0
    text = text or ""
    while at < len(text):
        found = _ITEM.match(text, at)
        if found is None:
            raise typer.BadParameter(
                f"{text[at:]!r} is not like name=role,other=date:%d/%m/%Y. A name, or what is "
                'behind date:, stands in quotes if it has a comma or =: "a,b"=category.',
                param_hint="--roles",
            )
        quoted, plain, number, date, form, role = found.groups()
        name = plain if quoted is None else quoted.replace('""', '"')
        roles[name] = number or (f"{date}:{form}" if date else role)
        at = found.end()
    return roles


def in_options(sentence: str) -> str:
    """Return advice to a caller of the library as advice to a user of the command line."""
    return _IN_PYTHON.sub(
        lambda found: f"--roles {_quoted(json.loads(found[1]))}={found[2]}", sentence
    )


def _quoted(name: str) -> str:
    """Return a name as `roles_in` reads it, and a shell as one word."""
    if re.fullmatch(r"[\w.:%/+-]+", name):
        return name
    word = '"' + name.replace('"', '""') + '"'
    return "'" + word.replace("'", "'\\''") + "'"
