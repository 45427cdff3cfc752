"""What columns are, as the option --roles says it."""

from __future__ import annotations

import re
import shlex

import typer

from refold.base.advice import Advice

# A name, in quotes if it has a comma or an equals sign; a role; behind a colon, how it is written.
_ITEM = re.compile(
    r'\s*(?:"((?:[^"]|"")+)"|([^",=\s][^,=]*?))\s*=\s*'
    r'(?:(number:[.,])|(date):"([^"]*)"|([^,"]*?))\s*(?:,|$)'
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


def as_option(advice: Advice) -> str:
    """Return what is advised as an option of a command."""
    if advice.kind == "role":
        role, form = (advice.role or "").partition(":")[::2]
        written = f'date:"{form}"' if role == "date" and "," in form else advice.role or ""
        return f"--roles {_quoted(advice.column or '')}={shlex.quote(written)}"
    if advice.kind == "id_column":
        return f"--id-column {shlex.quote(advice.column or '')}"
    if advice.kind == "header":
        return "--header if these are the names, --no-header if there are none"
    option = f"--{advice.kind.replace('_', '-')}"
    if advice.value is None:
        return option
    if advice.kind == "without":
        return " ".join(f"{option} {each}" for each in str(advice.value).split(","))
    value = advice.value if isinstance(advice.value, str) else f"{advice.value:g}"
    return f"{option} {shlex.quote(value)}"


def _quoted(name: str) -> str:
    """Return a name as `roles_in` reads it, and a shell as one word."""
    if re.fullmatch(r"[\w.:%/+-]+", name):
        return name
    word = '"' + name.replace('"', '""') + '"'
    return "'" + word.replace("'", "'\\''") + "'"
