"""refold app as a process, and a browser that looks at it."""

import contextlib
import os
import re
import subprocess
import sys

from tests.environment import default_signals, die_with_parent

_COMMAND = "from refold.cli import app; app()"


@contextlib.contextmanager
def running(*arguments, opens_browser=False, **environment):
    """Run the command; give the process and the address that it prints."""
    silent = [] if opens_browser else ["--no-browser"]
    with default_signals():
        process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND, "app", *map(str, arguments), *silent],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
            preexec_fn=die_with_parent,
        )
    try:
        said = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", said)
        assert found, said + process.stderr.read()
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()


class AppPage:
    """A page of the app in a browser, which remembers what it asked for and complained about."""

    def __init__(self, browser, address, **context):
        self.context = browser.new_context(accept_downloads=True, **context)
        self.page = self.context.new_page()
        self.said, self.requests = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.origin = address.partition("/?")[0]
        self.page.goto(address)
        self.root = self.page.url.rstrip("/")

    def go(self, path):
        self.page.goto(self.root + path)

    @contextlib.contextmanager
    def until_done(self):
        """Wait until what is begun here is done, and shown."""
        before = self.page.locator("#job").get_attribute("data-finished")
        yield
        later = f"#job[hidden]:not([data-finished='{before}'])"
        self.page.wait_for_selector(later, state="attached", timeout=120_000)
        self.page.wait_for_load_state()  # its script has run

    def press(self, name, **options):
        """Press a button that begins something."""
        with self.until_done():
            self.page.get_by_role("button", name=name, **options).first.click()

    def upload(self, file):
        """Choose a file that is then read."""
        with self.until_done():
            self.page.locator("input[type=file]:enabled").first.set_input_files(str(file))

    def begin_anew(self):
        """Forget what others have done in the same process."""
        self.go("/")
        folded = self.page.locator("summary", has_text="Another table")
        if folded.count():
            folded.click()
            self.page.get_by_role("button", name="Begin anew").click()
            self.page.wait_for_selector("h1 >> text=Which rows are normal?")
            self.page.wait_for_load_state()
