"""Write the number of a release where it belongs, and say whether all of it agrees.

python tests/release.py prepare 1.2.3   # pyproject.toml, CITATION.cff, CHANGELOG.md, the recipe
python tests/release.py v1.2.3          # do tag, version, change log and citation agree?
"""

import re
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version(root=ROOT):
    """Return the version; it is written in one place."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["version"]


def cited(root=ROOT):
    """Return the version that the citation names."""
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    return re.search(r"^version: (\S+)$", text, re.MULTILINE)[1]


def complaints(tag, root=ROOT):
    """Return what is not as it must be for a release under a tag, a sentence each."""
    log = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    wanted = version(root)
    if tag != f"v{wanted}":
        yield f"The tag is {tag}, but pyproject.toml has version {wanted}."
    if cited(root) != wanted:
        yield f"CITATION.cff has version {cited(root)}, pyproject.toml has {wanted}."
    if not re.search(rf"^## {re.escape(wanted)} \(\d{{4}}-\d\d-\d\d\)$", log, re.MULTILINE):
        yield f"CHANGELOG.md has no heading '## {wanted} (year-month-day)'."


def prepare(number, root=ROOT, today=None):
    """Write the version and the day of a release into the files that name it."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", number):
        raise SystemExit(f"{number!r} is no version: write VERSION=1.2.3.")
    if _parts(number) < _parts(version(root)):
        raise SystemExit(f"{number} is older than {version(root)}, which pyproject.toml has.")
    day = (today or datetime.now(UTC).date()).isoformat()
    changed = {}
    for file, old, new in [
        ("pyproject.toml", r'^version = ".*"$', f'version = "{number}"'),
        ("CITATION.cff", r"^version: .*$", f"version: {number}"),
        ("packaging/conda/recipe.yaml", r'^  version: ".*"$', f'  version: "{number}"'),
        ("CHANGELOG.md", r"^## .*\(unreleased\)$", f"## {number} ({day})"),
    ]:
        text = (root / file).read_text(encoding="utf-8")
        changed[file], count = re.subn(old, new, text, count=1, flags=re.MULTILINE)
        if not count:
            raise SystemExit(f"{file} has no line like {old}: there is nothing to release.")
    for file, text in changed.items():
        (root / file).write_text(text, encoding="utf-8")


def _parts(number):
    return tuple(map(int, number.split(".")))


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare(sys.argv[2])
    else:
        sys.exit("\n".join(complaints(sys.argv[1])))
