"""Pictures of each step for the docs: ``make screenshots``."""

import sys
from pathlib import Path

from PIL import Image

from tests.app.running import AppPage, running
from tests.browser import CHROMIUM

COLOURS = 128  # few are enough for a page, and keep the files small
LOOKS = {
    "light": {"viewport": {"width": 1100, "height": 860}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1100, "height": 860}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 400, "height": 860}, "color_scheme": "light"},
}


def take(browser, folder, look, context):
    with running() as (_, address):
        app = AppPage(browser, address, **context)

        def shot(step):
            file = folder / f"app-{step}-{look}.png"
            app.page.screenshot(path=file)
            Image.open(file).convert("RGB").quantize(COLOURS).save(file, optimize=True)

        shot("begin")
        app.press("Screws")
        shot("table")
        app.go("/learn")
        app.press("Learn", exact=True)
        shot("learn")
        app.go("/check")
        app.press("The new rows of the sample")
        app.page.wait_for_selector(".run")
        shot("check")
        app.page.locator(".worst tbody tr a").nth(3).click()
        shot("row")
        app.go("/limits")
        app.press("Find out")
        shot("limits")
        app.go("/take")
        shot("take")
        app.context.close()
        assert app.said == [], app.said


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for look, context in LOOKS.items():
            take(browser, folder, look, context)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
