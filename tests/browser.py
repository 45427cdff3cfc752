"""Pages in a browser without a window."""

from __future__ import annotations

import html
import re
import shutil
import subprocess

import pytest

from tests.environment import nothing_skipped

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None and not nothing_skipped(), reason="chromium is not installed"
)

OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--enable-logging=stderr", "--hide-scrollbars"),
)


def chromium(page, profile, *options):
    """Open a page; return the output and what was said in the console."""
    done = subprocess.run(
        [CHROMIUM, *OPTIONS, f"--user-data-dir={profile}", *options, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def width_in_window(page, folder, width):
    """Measure inside a frame: tables scroll in their own box, the page does not."""
    frame = folder / "frame.html"
    body = html.escape(page.read_text(encoding="utf-8"))
    frame.write_text(
        f'<iframe id="f" style="width:{width}px;height:900px;border:0" srcdoc="{body}"></iframe>'
        "<script>f.onload = () => { document.title ="
        " f.contentDocument.documentElement.scrollWidth; }</script>",
        encoding="utf-8",
    )
    dom, console = chromium(frame, folder / "profile", "--dump-dom", "--window-size=1500,1000")
    assert console == []
    return int(re.search(r"<title>(\d+)</title>", dom).group(1))


def serious_violations(page):
    """Return what axe-core finds on a page of Playwright that is serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['html']}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
