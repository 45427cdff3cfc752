"""The page in a browser: the whole way, by mouse, by keyboard, on a phone."""

import re

import numpy as np
import pandas as pd
import pytest

import refold
from refold.models.files import load
from tests.app.conftest import new_parts, parts
from tests.app.running import AppPage, running
from tests.browser import serious_violations
from tests.other_origin import OtherOrigin


@pytest.fixture(scope="module")
def address():
    with running() as (_, address):
        yield address


@pytest.fixture
def app(browser, address):
    app = AppPage(browser, address, viewport={"width": 1200, "height": 900})
    app.begin_anew()
    yield app
    app.context.close()
    assert app.said == []
    assert all(url.startswith((app.origin, "data:", "blob:")) for url in app.requests)


def downloaded(app, name):
    with app.until_done(), app.page.expect_download() as download:
        app.page.get_by_role("button", name=f"Download {name}").click()
    return download.value.path()


def shown_rows(app):
    """Return the numbers of the rows that are shown."""
    links = app.page.get_by_role("rowheader").get_by_role("link").all_inner_texts()
    return [int(text.replace(",", "")) for text in links]


def come_to_check(app, files):
    app.upload(files / "parts.csv")
    app.page.get_by_role("button", name="Next: learn").click()
    app.page.wait_for_url("**/learn")
    app.press("Learn", exact=True)
    app.page.get_by_role("link", name="Next: check new rows").click()
    app.upload(files / "new.csv")


def test_from_a_file_to_a_model_whose_labels_are_those_of_python(app, files):
    come_to_check(app, files)
    table, new = pd.read_csv(files / "parts.csv"), pd.read_csv(files / "new.csv")
    labels = refold.Detector().fit(table).predict(new)
    assert app.page.inner_text("[data-rejected]") == f"{(labels == -1).sum()} of 200 rows"
    app.page.get_by_role("link", name="Next: what would it catch?").click()
    app.press("Find out")
    assert app.page.locator(".zones:not(.changes) tbody tr").count() == 2
    changed = app.page.locator(".changes tbody tr").all_inner_texts()
    assert any("machine" in text and "a typo" in text and "100" in text for text in changed)
    app.page.get_by_role("link", name="Next: download").click()
    model = load(downloaded(app, "model.json"))
    np.testing.assert_array_equal(model.predict(new), labels)
    scored = pd.read_csv(downloaded(app, "scored.csv"))
    np.testing.assert_array_equal(scored["label"], labels)


def test_what_was_changed_is_taken_along_to_the_next_step(app, files):
    app.upload(files / "parts.csv")
    app.page.get_by_label("code").select_option("ignore")
    app.press("Next: learn")
    app.press("Learn", exact=True)
    assert "code" not in app.page.inner_text(".facts.normal")
    assert "torque" in app.page.inner_text(".facts.normal")


def test_a_rule_is_typed_refused_mended_and_used(app, files):
    app.upload(files / "parts.csv")
    app.go("/learn")
    app.page.locator("summary", has_text="Rules of your own").click()
    app.page.get_by_label("Min, torque").fill("90")
    app.page.get_by_label("Max, torque").fill("80")
    app.press("Learn", exact=True)
    assert "torque: the limits are the wrong way round" in app.page.inner_text(".news")
    assert app.page.get_by_label("Max, torque").input_value() == "80"  # unfolded, to be mended
    app.page.get_by_label("Min, torque").fill("60")
    assert serious_violations(app.page) == []
    app.press("Learn", exact=True)
    assert "60–80" in app.page.inner_text(".facts.normal >> nth=1")
    app.page.get_by_role("link", name="Next: check new rows").click()
    app.upload(files / "new.csv")
    app.go("/check/rows/5")
    assert "torque 91.5 is outside the limit you set, 60–80" in app.page.inner_text(".because")


def test_the_slider_answers_at_once_and_is_used_when_asked(app, files):
    come_to_check(app, files)
    before = app.page.inner_text("[data-rejected]")
    asked = len(app.requests)
    slider = app.page.get_by_role("slider")
    assert app.page.get_by_role("button", name="Use this rate").is_disabled()
    slider.focus()
    for _ in range(20):
        app.page.keyboard.press("ArrowRight")
    now = app.page.inner_text("[data-rejected]")
    assert now != before
    assert len(app.requests) == asked  # nobody was asked
    assert app.page.evaluate("document.activeElement.id") == "rate"
    assert (
        app.page.inner_text("[data-rate]")
        == slider.get_attribute("aria-valuetext")
        == "20\N{NO-BREAK SPACE}%"
    )
    app.press("Use this rate")
    assert app.page.inner_text("[data-rejected]") == now
    assert app.page.evaluate("document.activeElement.id") == "rate"


def test_a_row_has_a_gauge_for_every_column_and_can_be_called_normal(app, files):
    come_to_check(app, files)
    before = int(app.page.inner_text("[data-rejected]").split()[0])
    app.page.get_by_role("link", name=re.compile(r"machine never seen")).click()
    app.page.get_by_role("rowheader").get_by_role("link", name="21", exact=True).click()
    app.page.wait_for_selector(".gauges")
    assert app.page.locator(".gauges tbody tr").count() == 6
    assert app.page.locator(".gauges svg.gauge").count() == 6
    alarm, plain = (
        app.page.locator(f".gauges tr{row} .mark").first.evaluate("e => getComputedStyle(e).fill")
        for row in (".alarm", ":not(.alarm)")
    )
    assert alarm != plain  # the colour of an alarm is that of a reason
    app.press("This one is normal")
    assert "it is normal now" in app.page.inner_text(".news")
    assert int(app.page.inner_text("[data-rejected]").split()[0]) < before
    app.press("Take the last one back")
    assert "Taken back" in app.page.inner_text(".news")
    assert int(app.page.inner_text("[data-rejected]").split()[0]) == before


def test_check_leads_with_pictures_then_one_line_per_row_with_its_name_first(app, tmp_path):
    rng = np.random.default_rng(0)
    heat = rng.normal(20.0, 2.0, 430)
    rows = pd.DataFrame(
        {
            "serial": [f"S{k:04d}" for k in range(430)],
            "heat": heat.round(2),
            "torque": (75 + 2.0 * (heat - 20) + rng.normal(0, 0.2, 430)).round(2),
            "machine": rng.choice(["A", "B"], 430),
        }
    )
    rows.loc[415, ["heat", "torque"]] = [17.5, 79.0]  # each is usual, together they are not
    rows.iloc[:400].to_csv(tmp_path / "parts.csv", index=False)
    rows.iloc[400:].to_csv(tmp_path / "new.csv", index=False)
    come_to_check(app, tmp_path)
    app.page.set_viewport_size({"width": 1280, "height": 900})
    box = app.page.locator(".wide")
    assert box.evaluate("e => e.scrollWidth <= e.clientWidth")  # four columns fit
    top = [app.page.locator(each).bounding_box()["y"] for each in (".run", ".distribution")]
    assert max(top) < box.bounding_box()["y"]
    assert app.page.locator(".distribution rect.not").count() >= 1
    line = app.page.locator(".worst tbody tr", has_text="S0415")
    name, why = line.locator("th").inner_text(), line.locator(".why").inner_text()
    assert name == "S0415"
    assert {"heat", "torque"} <= {*re.findall(r"\w+", why)}
    line.get_by_role("link").click()
    title = app.page.locator("#pair").inner_text()
    assert set(title.split(" beside ")) == {"heat", "torque"}
    ring, dots = (app.page.locator(f".pair-picture {each}") for each in (".this-row", ".dots"))
    ring, dots = ring.bounding_box(), dots.bounding_box()
    assert dots["x"] - 10 <= ring["x"] <= dots["x"] + dots["width"]  # apart, but within both axes
    app.go("/")
    closest = app.page.locator("[aria-labelledby=together-title] p b").inner_text()
    assert set(closest.split(" and ")) == {"heat", "torque"}
    assert app.page.locator(".matrix rect").count() >= 1


def test_a_heading_sorts_and_turns_round_by_mouse_and_by_keyboard(app, files):
    come_to_check(app, files)
    app.page.locator("select[name=show]").select_option("all")
    app.page.get_by_label("Show cells").check()
    app.page.get_by_role("button", name="Apply").click()
    app.page.wait_for_url("**show=all**")
    heat = pd.read_csv(files / "new.csv")["heat [C]"]
    app.page.get_by_role("columnheader").get_by_role("link", name="heat [C]").click()
    app.page.wait_for_selector("th[aria-sort=ascending] >> text=heat [C]")
    assert shown_rows(app) == (heat.sort_values(kind="stable").index[:25] + 1).tolist()
    app.page.get_by_role("columnheader").get_by_role("link", name="heat [C]").press("Enter")
    app.page.wait_for_selector("th[aria-sort=descending] >> text=heat [C]")
    down = heat.sort_values(ascending=False, kind="stable").index[:25] + 1
    assert shown_rows(app) == down.tolist()
    assert app.page.get_by_label("Sort by").locator("option:checked").inner_text() == "heat [C]"
    app.page.get_by_role("rowheader").get_by_role("link").first.click()
    app.page.get_by_role("link", name="Back to the rows").click()
    app.page.wait_for_selector("th[aria-sort=descending] >> text=heat [C]")
    assert shown_rows(app) == down.tolist()
    assert app.page.evaluate("document.querySelector('.wide').tabIndex") == 0


def test_a_narrow_screen_sorts_by_a_list_and_shows_what_it_sorted_by(app, files):
    come_to_check(app, files)
    app.page.set_viewport_size({"width": 400, "height": 800})
    assert not app.page.locator(".cells thead").is_visible()
    app.page.get_by_label("Sort by").select_option(label="torque")
    app.page.get_by_label("Order").select_option("ascending")
    app.page.get_by_role("button", name="Apply").click()
    app.page.wait_for_url("**sort=column-2**")
    cells = [float(text) for text in app.page.locator(".cell:visible").all_inner_texts()]
    assert len(cells) == len(shown_rows(app)) > 1
    assert cells == sorted(cells)
    assert app.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_all_groups_can_be_seen(app):
    app.press("Breast cancer cases")
    app.go("/learn")
    app.press("Learn", exact=True)
    app.go("/check")
    app.press("The new rows of the sample")
    app.page.locator("[aria-labelledby=groups] summary").click()
    last = app.page.locator(".groups a").last
    count = int(last.inner_text().split()[0])
    last.click()
    app.page.wait_for_url("**group=**")
    assert len(shown_rows(app)) == count
    assert app.page.locator(".groups a[aria-current]").is_visible()


def test_a_sheet_is_chosen_without_sending_the_file_again(app, tmp_path):
    for name, table in (("book.xlsx", parts(200)), ("new.xlsx", new_parts())):
        with pd.ExcelWriter(tmp_path / name, engine="xlsxwriter") as book:
            pd.DataFrame({"about": ["x", "y"]}).to_excel(book, sheet_name="Legend", index=False)
            table.to_excel(book, sheet_name="Parts", index=False)
            table.assign(heat=1.0).head(100).to_excel(book, sheet_name="Others", index=False)

    def read_sheet(name):
        sheet = app.page.get_by_label("Sheet")
        if not sheet.is_visible():
            app.page.get_by_text(re.compile("Read .* otherwise")).click()
        sheet.select_option(label=name)
        app.press("Read again")

    app.upload(tmp_path / "book.xlsx")
    assert "200 rows, 6 columns" in app.page.inner_text(".lead")  # the largest
    read_sheet("Others")
    assert "100 rows, 7 columns" in app.page.inner_text(".lead")
    read_sheet("Parts")
    app.go("/learn")
    app.press("Learn", exact=True)
    app.go("/check")
    app.upload(tmp_path / "new.xlsx")
    assert "of 200 rows" in app.page.inner_text("[data-rejected]")
    read_sheet("Legend")
    assert "no column" in app.page.get_by_role("alert").first.inner_text()
    read_sheet("Parts")
    assert "of 200 rows" in app.page.inner_text("[data-rejected]")


def test_marks_of_a_text_file_are_said_where_they_were_guessed_wrong(app, tmp_path):
    table = parts(200)
    table["heat [C]"] = [f"1.{k % 90 + 100}" for k in range(200)]  # thousands, somebody knows
    table.to_csv(tmp_path / "parts.csv", index=False, sep=";")
    app.upload(tmp_path / "parts.csv")
    app.page.get_by_text("Read parts.csv otherwise").click()
    assert "guessed: semicolons" in app.page.get_by_label("Between cells").inner_text()
    app.page.get_by_label("Before a fraction").select_option(label="a comma: 1,5")
    app.page.get_by_label("Between thousands").select_option(label="a point: 1.000")
    app.press("Read again")
    row = app.page.locator("tr", has=app.page.get_by_role("rowheader", name="heat [C]"))
    assert "1100" in row.inner_text()  # and what was written, as it was


def test_a_hostile_file_runs_nothing_and_a_broken_one_is_a_sentence(app, tmp_path):
    script = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    table = parts(150).rename(columns={"machine": script})
    table[script] = script
    table["code"] = [f"{script}{k}" for k in range(150)]
    table["n" * 3000] = range(150)
    table.to_csv(tmp_path / "hostile.csv", index=False)
    app.upload(tmp_path / "hostile.csv")
    assert script in app.page.inner_text(".columns")
    long = app.page.locator(".column-name", has_text="nnn").first
    assert long.bounding_box()["height"] < 200
    app.go("/learn")
    app.press("Learn", exact=True)
    app.go("/check")
    (tmp_path / "broken.xlsx").write_bytes(b"PK\x03\x04 nothing")
    app.upload(tmp_path / "broken.xlsx")
    assert "broken.xlsx" in app.page.get_by_role("alert").first.inner_text()
    app.upload(tmp_path / "hostile.csv")
    app.go("/check/rows/0")
    assert app.page.locator("main script, main img").count() == 0


def test_a_file_can_be_dropped(app, files):
    text = (files / "parts.csv").read_text()
    data = app.page.evaluate_handle(
        "text => { const d = new DataTransfer(); d.items.add(new File([text], 'dropped.csv'));"
        " return d; }",
        text,
    )
    app.page.dispatch_event("form.drop", "drop", {"dataTransfer": data})
    app.page.wait_for_selector("h1 >> text=dropped.csv", timeout=60_000)


def test_a_file_is_taken_only_once_somebody_listens(app):
    held = []
    app.page.route("**/behaviour.js", lambda route: held.append(route))
    app.page.reload(wait_until="commit")
    app.page.wait_for_selector("input[type=file]:disabled")
    held[0].continue_()
    app.page.wait_for_selector("input[type=file]:enabled")


def test_all_of_it_works_with_a_keyboard(app):
    app.page.keyboard.press("Tab")
    assert app.page.evaluate("document.activeElement.textContent") == "To the content"
    for _ in range(12):
        app.page.keyboard.press("Tab")
        if app.page.evaluate("document.activeElement.textContent") == "Screws":
            break
    app.page.keyboard.press("Enter")
    app.page.wait_for_selector("h1 >> text=screws.csv", timeout=60_000)
    unlabelled = app.page.evaluate(
        "[...document.querySelectorAll('input:not([type=hidden]),select,button')]"
        ".filter(e => !e.labels?.length && !e.ariaLabel && !e.textContent.trim()"
        " && !e.getAttribute('aria-labelledby')).length"
    )
    assert unlabelled == 0


# Of what can be pressed: links in a line of text, and what is hidden, are left aside.
SMALL_TARGETS = """
    [...document.querySelectorAll("a, button, select, input, summary, label:has(input)")]
    .filter(e => e.checkVisibility() && !e.closest(".skip, .hidden") && !e.matches("label > input"))
    .filter(e => !(e.matches("a") && getComputedStyle(e).display == "inline" && e.closest("p")))
    .filter(e => { const r = e.getBoundingClientRect(); return Math.min(r.width, r.height) < 24; })
    .map(e => e.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 390), ("dark", 1280)])
def test_pages_fit_and_can_be_read_and_pressed(browser, address, scheme, width):
    app = AppPage(browser, address, viewport={"width": width, "height": 800}, color_scheme=scheme)
    app.begin_anew()

    def fits():
        assert app.page.evaluate("document.documentElement.scrollWidth") <= width, app.page.url
        assert serious_violations(app.page) == [], app.page.url
        assert width > 390 or app.page.evaluate(SMALL_TARGETS) == [], app.page.url

    fits()
    app.press("Screws")
    for path, button in (
        ("/learn", "Learn"),
        ("/check", "The new rows of the sample"),
        ("/limits", "Find out"),
    ):
        app.go(path)
        app.press(button, exact=True)
    for path in ("/", "/learn", "/check", "/check/rows/200", "/limits", "/take", "/compare"):
        app.go(path)
        for folded in app.page.locator("summary:visible").all():
            folded.click()
        fits()
    app.context.close()
    assert app.said == []


def test_a_server_on_another_port_gets_no_secret(browser, address):
    """Cookies go to all ports of a host: this one is bound to a path that nobody else learns."""
    with OtherOrigin.running() as other:
        app = AppPage(browser, address)
        (cookie,) = app.context.cookies()
        assert cookie["path"] == app.root.removeprefix(app.origin)
        app.page.evaluate("other => { location.href = other; }", other.address)
        app.page.wait_for_url(other.address)
        app.page.goto(f"{other.address}check")
        assert len(other.asked) >= 2
        sent = str(other.asked)
        assert cookie["value"] not in sent
        assert cookie["path"].strip("/") not in sent
        app.context.close()
