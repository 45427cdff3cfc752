"""The report on paper: A4 portrait, as a browser prints it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from palmerpenguins import load_penguins

from refold import Detector, compare
from refold.report import write_comparison, write_report
from tests.report.opened import Opened


def measured(rng, rows):
    """Return numbers that depend on one another, with names that have no place to break."""
    size = rng.normal(5.8, 0.8, rows)
    return pd.DataFrame(
        {
            "sepal_length_measured_in_millimetres": size,
            "sepal_width": rng.normal(3.0, 0.4, rows),
            "petal_length": 1.8 * size - 6.0 + rng.normal(0.0, 0.4, rows),
            "petal_width": 0.7 * size - 2.9 + rng.normal(0.0, 0.2, rows),
        }
    )


def mixed(rng, rows):
    """Return a number, a date, a category and texts."""
    when = pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 500 * 24, rows), "h")
    return pd.DataFrame(
        {
            "amount [EUR]": rng.lognormal(3.0, 1.0, rows).round(2),
            "booked at": when,
            "kind of transaction": rng.choice(["card payment", "standing order", "cash"], rows),
            "reference": [f"INV-{k:06d}" for k in rng.integers(0, 10**6, rows)],
        }
    )


@pytest.fixture(scope="module", params=[measured, mixed])
def printed(request, browser, tmp_path_factory):
    """Return the pages of a report of four columns with many outliers."""
    rng = np.random.default_rng(0)
    model = Detector(alpha=0.02).fit(request.param(rng, 400))
    new = request.param(rng, 200)
    for row in range(40):
        new.iloc[row, row % 4] = new.iloc[row, row % 4] * 7 if row % 4 != 1 else new.iloc[0, 1]
    new.iloc[::5, 0] *= 9.0
    file = tmp_path_factory.mktemp("printed") / "report.html"
    report = write_report(model, new, file)
    assert len(report.worst) > 10
    return pages_of(browser, file)


def pages_of(browser, file):
    """Return the lines of each printed page, with left, bottom, right and top."""
    import pypdfium2

    opened = Opened(browser, file)
    with pypdfium2.PdfDocument(opened.page.pdf(format="A4")) as document:
        opened.page.context.close()
        return [boxes(page.get_textpage()) for page in document]


def boxes(text):
    """Return lines of text; the pieces that a line is printed in are joined."""
    lines = []
    for k in range(text.count_rects()):
        left, bottom, right, top = text.get_rect(k)
        if lines and abs(lines[-1][1] - bottom) < 4.0 and -1.0 < left - lines[-1][2] < 4.0:
            _, low, _, high = lines[-1]
            lines[-1][1:] = min(bottom, low), right, max(top, high)
        else:
            lines.append([left, bottom, right, top])
    return [(text.get_text_bounded(*line).strip(), line) for line in lines]


def test_four_columns_take_at_most_three_pages(printed):
    assert 1 <= len(printed) <= 3


def test_everything_that_matters_is_printed(printed):
    words = " ".join(text for page in printed for text, _ in page)
    for heading in ("How far from normal", "The farthest out", "Model card", "Change", "Missing"):
        assert heading in words


def test_nothing_is_printed_over_anything_else(printed):
    for page in printed:
        for (one, a), (other, b) in combinations(page, 2):
            wide, tall = (min(a[k + 2], b[k + 2]) - max(a[k], b[k]) for k in (0, 1))
            assert min(wide, tall) < 1.5, (one, other)


def test_words_do_not_run_downwards_letter_by_letter(printed):
    for page in printed:
        left = [(round(box[0]), text) for text, box in page]
        for x in {x for x, _ in left}:
            letters = [len(text) == 1 and text.isalpha() for other, text in left if other == x]
            assert sum(letters) < 4, x


def test_nothing_is_cut_off_at_the_edge_of_the_paper(printed):
    wide = 595.0
    for page in printed:
        assert all(left > 20.0 and right < wide - 20.0 for _, (left, _, right, _) in page)


def test_a_comparison_is_printed_as_well(browser, tmp_path):
    penguins = load_penguins()
    old, new = (Detector(alpha=0.05).fit(penguins.iloc[k::2]) for k in (0, 1))
    found = compare(old, new, penguins)
    assert len(found.changed_rows) > 10
    write_comparison(found, tmp_path / "comparison.html")
    pages = pages_of(browser, tmp_path / "comparison.html")
    assert len(pages) <= 4
    test_nothing_is_printed_over_anything_else(pages)
    test_words_do_not_run_downwards_letter_by_letter(pages)
