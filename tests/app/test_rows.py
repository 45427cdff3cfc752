"""New rows page by page: the browser never gets more, whatever it asks for."""

import html
import re

import numpy as np
import pytest

from refold.report import describe
from tests.app.conftest import new_parts, parts


@pytest.fixture
def checked(visitor, files, tmp_path):
    visitor.put("/table", files / "parts.csv")
    visitor.post("/learn")
    file = tmp_path / "new.csv"
    new_parts(120).to_csv(file, index=False)
    visitor.put("/check", file)
    return visitor


def rows_of(page):
    page = page[page.index('<h2 id="rows">') :]
    return [
        int(number.replace(",", ""))
        for number in re.findall(r'<a href="/check/rows/\d+[^"]*">([\d,]+)</a>', page)
    ]


def test_pages_together_are_all_rows_once(checked):
    asked = "/check?show=all&sort=row&down=0"
    pages = [rows_of(checked.page(f"{asked}&page={k}")) for k in range(1, 6)]
    assert [len(page) for page in pages] == [25, 25, 25, 25, 20]
    assert [row for page in pages for row in page] == list(range(1, 121))


@pytest.mark.parametrize("page", ["6", "999999999", "-1", "x", "1e9", "٣"])
def test_a_page_that_is_not_there_is_one_that_is(checked, page):
    assert 20 <= len(rows_of(checked.page(f"/check?show=all&page={page}"))) <= 25


def test_rows_are_sorted_by_their_distance(checked):
    far = checked.state.checked.found.distances
    order = [row - 1 for row in rows_of(checked.page("/check?show=all"))]
    np.testing.assert_array_equal(far[order], -np.sort(-far)[:25])
    order = [row - 1 for row in rows_of(checked.page("/check?show=all&down=0"))]
    np.testing.assert_array_equal(far[order], np.sort(far)[:25])


def test_only_rows_that_are_not_normal_are_shown_at_first(checked):
    outliers = np.flatnonzero(checked.state.checked.found.labels == -1) + 1
    assert sorted(rows_of(checked.page("/check"))) == outliers.tolist()
    assert not set(rows_of(checked.page("/check?show=normal"))) & set(outliers.tolist())


def test_search_finds_what_a_cell_contains_whatever_its_case(checked):
    table = new_parts(120)
    code = table["code"][77]
    has = table.astype(str).apply(lambda column: column.str.contains(code)).any(axis=1)
    expected = (np.flatnonzero(has) + 1).tolist()
    assert sorted(rows_of(checked.page(f"/check?show=all&text={code.lower()}"))) == expected
    assert "No row matches" in checked.page("/check?show=all&text=nowhere")


@pytest.mark.parametrize("text", ["%", "(", "\\", "[a-", "*"])
def test_search_takes_every_character_as_it_is(checked, text):
    page = checked.client.get("/check", params={"show": "all", "text": text})
    assert "No row matches" in page.text


def test_a_group_has_the_rows_with_its_reason(checked):
    group = next(
        k for k, each in enumerate(checked.state.checked.groups) if each.feature == "machine"
    )
    page = checked.page(f"/check?group={group}")
    assert rows_of(page) == [21]
    assert "never seen" in page
    assert "with this reason" in page


def described(visitor):
    """Return the groups as the report finds them, which knows nothing of other rates."""
    checked = visitor.state.checked
    found = describe(checked.trained.in_use, checked.table.training.table).groups
    return [(group.feature, group.how, group.rows) for group in found]


@pytest.mark.parametrize("method", ["auto", "ref"])
def test_groups_cover_all_rows_that_are_not_normal_at_every_rate(checked, method):
    checked.post("/learn", method=method)
    for place in (0, -1, 3):
        checked.post("/check/rate", rate=range(len(checked.state.checked.rates))[place])
        now = checked.state.checked
        groups = [(group.feature, group.how, group.rows) for group in now.groups]
        assert sorted(groups) == sorted(described(checked))
        others = now.rejected - sum(rows for _, _, rows in groups)
        page = checked.page("/check")
        assert ("in no group" in page) == (others > 0)
        assert f"{others} row" in page or others == 0
        assert "farthest out, of" not in page


def test_rows_that_are_in_no_group_are_said(checked, files, monkeypatch):
    monkeypatch.setattr("refold.app.checking._BLAMED", 3)
    checked.put("/check", files / "new.csv")
    rejected = checked.state.checked.rejected
    page = " ".join(checked.page("/check").split())
    assert f"of the 3 rows that are farthest out, of {rejected} that are outliers" in page


def test_a_row_shows_every_column_and_what_would_be_normal(checked):
    page = checked.page("/check/rows/6")
    table = page[page.index('class="gauges"') :]
    names = checked.state.checked.found.names
    shown = re.findall(r'<th scope="row"><span class="column-name">([^<]*)</span></th>', table)
    assert shown[0] == "torque"
    assert set(shown) == set(names)
    assert table.count('class="gauge"') == len(names)
    assert "91.5" in page
    assert "This one is normal" in page
    assert checked.get("/check/rows/120").status_code == 404
    for row in ("-1", "1.0", "1_0", "\u0663", "x", "0" * 16, "9" * 5000):
        assert checked.get(f"/check/rows/{row}").status_code == 404


def test_a_share_is_the_same_in_the_sentence_and_in_the_table(checked):
    found = checked.state.checked
    for row in np.flatnonzero(found.found.outlier)[:5]:
        said, _ = found.explained(int(row))
        page = checked.page(f"/check/rows/{row}")
        table = re.findall(r'data-label="Share">.*?</svg>([^<]*)</td>', html.unescape(page), re.S)
        sentences = [re.match("[0-9]+ %", each.details()) for each in said.reasons]
        for text, sentence in zip(table, sentences, strict=True):
            if sentence:
                assert text.replace("\N{NO-BREAK SPACE}", " ") == sentence[0]


def test_a_row_without_any_value_is_an_outlier(checked, tmp_path):
    table = new_parts(50)
    table.loc[3] = None
    file = tmp_path / "gaps.csv"
    table.to_csv(file, index=False)
    checked.put("/check", file)
    assert 4 in rows_of(checked.page("/check"))
    assert "could not be judged" not in checked.page("/check")


def test_a_table_of_numbers_alone_goes_all_the_way(visitor, tmp_path):
    for name, seed in (("a.csv", 0), ("b.csv", 1)):
        parts(200, seed)[["torque", "heat [C]"]].fillna(20.0).to_csv(tmp_path / name, index=False)
    visitor.put("/table", tmp_path / "a.csv")
    visitor.post("/learn")
    visitor.put("/check", tmp_path / "b.csv")
    visitor.page("/check?show=all")
    assert 'class="band"' in visitor.page("/check/rows/0")
