"""Say whether a tag, the version, the change log and the citation agree: before a release.

python tests/release.py v1.2.3
"""

import re
import sys
import tomllib
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


if __name__ == "__main__":
    found = list(complaints(*sys.argv[1:2]))
    sys.exit("\n".join(found))
