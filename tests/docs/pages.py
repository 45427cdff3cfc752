"""The code blocks of README.md and docs/*.md, and what is said about not running one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
# What stands before a block that cannot be run, in a comment that readers of the page do not see.
MARKER = re.compile(r"<!-- not run: (\S.*) -->")
# The reference and the examples that make docs writes are no pages of ours.
PAGES = [
    ROOT / "README.md",
    *sorted(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if "auto_gallery" not in page.parts and "rooms" not in page.parts
    ),
]


@dataclass(frozen=True)
class CodeBlock:
    """A block of a page."""

    page: Path
    line: int  # where it begins, from 1
    language: str
    text: str
    follows: bool  # right behind another block: what that one prints
    not_run: str = ""  # why

    def __str__(self):
        return f"{self.page.relative_to(ROOT)}, line {self.line}"


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks_of(page):
    """Return a page's blocks in order; indented ones have no language."""
    found, marked, end = [], "", -1
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    for token in MarkdownIt("commonmark").parse(text):
        if token.type in ("fence", "code_block"):
            first, last = token.map
            between = [line for line in lines[end:first] if line.strip()] if end >= 0 else ["start"]
            language = token.info.strip()
            follows = all(MARKER.match(line) for line in between)
            found.append(CodeBlock(page, first + 1, language, token.content, follows, marked))
            end = last
        marker = MARKER.match(token.content) if token.type == "html_block" else None
        marked = marker.group(1) if marker else ""
    return found
