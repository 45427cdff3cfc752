"""What notebooks show, in a browser: words stay whole, nothing is wider than the cell."""

import pandas as pd
import pytest
from vega_datasets import data

from refold import Detector, check, compare, drift, explain, limits, suspects
from tests.browser import serious_violations

# Words that stand on more than one line; behind hyphens and = a line may end.
BROKEN = r"""() => {
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    if (node.parentElement.closest("style, details:not([open])")) continue;
    for (const match of node.data.matchAll(/[^\s\-–—/…=]+/g)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const lines = new Set([...range.getClientRects()].map((r) => Math.round(r.top)));
      if (lines.size > 1) found.push(match[0]);
    }
  }
  return found;
}"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    cars = pd.read_json(data.cars.filepath)
    model = Detector(alpha=0.02).fit(cars.iloc[:300])
    new = cars.iloc[300:340].copy()
    new.iloc[2, 3] = 99999.0
    results = [model, check(cars), explain(model, new.iloc[:6]), drift(model, new)]
    results += [limits(model), suspects(cars, 3), compare(model, model, new)]
    file = tmp_path_factory.mktemp("notebook") / "notebook.html"
    parts = "".join(result._repr_html_() for result in results)
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Results</title>'
    file.write_text(f"{head}<main>{parts}</main>", encoding="utf-8")
    return file


@pytest.mark.parametrize("width", [1000, 700, 420])
def test_words_and_numbers_stay_whole(browser, shown, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(shown.as_uri())
    assert page.evaluate(BROKEN) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_a_name_without_end_is_scrolled_to_not_cut(browser, tmp_path):
    name = "x" * 300
    result = check(pd.read_json(data.cars.filepath).rename(columns={"Miles_per_Gallon": name}))
    file = tmp_path / "notebook.html"
    file.write_text(f'<html lang="en"><title>x</title>{result._repr_html_()}', encoding="utf-8")
    page = browser.new_page(viewport={"width": 700, "height": 900})
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    page.close()


def test_everybody_can_read_it(browser, shown):
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.goto(shown.as_uri())
    assert serious_violations(page) == []
    page.close()
