"""The checked table in the order of any column, as pandas would sort it."""

import re

import numpy as np
import pandas as pd
import pytest

from refold.app.tables import SortKey, SortKeys
from tests.app.conftest import new_parts, parts

# What pandas must sort by to have the order of people: texts without regard to case.
AS_PEOPLE = {
    "machine": lambda column: column.str.casefold(),
    "heat [C]": lambda column: column,
    "torque": lambda column: column,
    "day": lambda column: pd.to_datetime(column, format="%d.%m.%Y"),
    "code": lambda column: column.str.casefold(),
    "state": lambda column: column.str.casefold(),
    "number": lambda column: column,
    "price": lambda column: column.str.replace(" €", "").str.replace(",", ".").astype(float),
}


def dirty(rows, make):
    """Return a table whose texts do not sort as what they stand for, with gaps."""
    table = make(rows)
    table["day"] = pd.to_datetime(table["day"]).dt.strftime("%d.%m.%Y")
    table["number"] = range(rows, 0, -1)  # it counts the rows: not learned, a number all the same
    table["price"] = [f"{k % 37},50 €" for k in range(rows)]
    table.loc[3, ["torque", "day"]] = None
    table.loc[7, "machine"] = "b"
    return table


@pytest.fixture(scope="module")
def table():
    return dirty(120, new_parts)


@pytest.fixture
def checked(visitor, table, tmp_path):
    dirty(400, parts).to_csv(tmp_path / "learn.csv", index=False)
    table.to_csv(tmp_path / "new.csv", index=False)
    visitor.put("/table", tmp_path / "learn.csv")
    assert not visitor.post("/learn").bad
    assert not visitor.put("/check", tmp_path / "new.csv").bad
    return visitor


def rows_of(page):
    page = page[page.index('<h2 id="rows">') :]
    return [int(n) for n in re.findall(r'<th scope="row"><a href="/check/rows/(\d+)', page)]


def all_rows(visitor, asked):
    pages = [rows_of(visitor.page(f"/check?show=all&{asked}&page={k}")) for k in range(1, 6)]
    return [row for page in pages for row in page]


@pytest.mark.parametrize("down", [0, 1])
@pytest.mark.parametrize("name", list(AS_PEOPLE))
def test_any_column_sorts_as_what_it_holds_missing_last_and_ties_as_they_were(
    checked, table, name, down
):
    place = checked.state.checked.table.columns.index(name)
    expected = (
        AS_PEOPLE[name](table[name])
        .sort_values(ascending=not down, na_position="last", kind="stable")
        .index.tolist()
    )
    assert all_rows(checked, f"sort=column-{place}&down={down}") == expected


def test_verdict_and_p_value_are_columns_too(checked):
    found = checked.state.checked.found
    order = all_rows(checked, "sort=p&down=0")
    assert (np.diff(found.p_values[order]) >= 0).all()
    order = all_rows(checked, "sort=verdict&down=1")
    assert (np.diff(found.labels[order]) >= 0).all()
    assert found.labels[order[0]] == -1


def test_the_headings_say_by_what_and_turn_the_order_round(checked):
    place = checked.state.checked.table.columns.index("torque")
    page = checked.page(f"/check?show=all&text=K-&sort=column-{place}&down=0")
    (heading,) = re.findall(r'aria-sort="(\w+)"><a href="([^"]*)">([^<]*)<', page)
    assert heading[::2] == ("ascending", "torque")
    assert f"sort=column-{place}&amp;down=1" in heading[1]
    assert "show=all&amp;text=K-" in heading[1]
    assert f'<option value="column-{place}" selected>torque' in page


def test_search_group_and_order_are_kept_from_page_to_row_and_back(checked):
    place = checked.state.checked.table.columns.index("day")
    asked = f"show=odd&text=K&sort=column-{place}&down=0&cells=1&group=0"
    page = checked.page(f"/check?{asked}").replace("&amp;", "&")
    assert '<input type="hidden" name="group" value="0">' in page
    listed = page[page.index("<tbody") :]  # incidents above it link to their rows alone
    links = [link for link in re.findall(r'href="([^"]*)"', listed) if "/check/rows" in link]
    assert links
    assert all(asked in link for link in links)
    back = checked.page(links[0]).replace("&amp;", "&")
    assert f'href="/check?{asked}&page=1#rows"' in back


def test_a_group_is_left_when_other_rows_are_asked_for(checked):
    whole = rows_of(checked.page("/check?show=normal"))
    assert rows_of(checked.page("/check?show=normal&group=0")) == whole


@pytest.mark.parametrize("sort", ["column-99", "column-", "column-x", "column--1", "nothing", ""])
def test_an_order_that_there_is_not_is_that_of_the_distances(checked, sort):
    page = checked.page(f"/check?show=all&sort={sort}")
    assert rows_of(page) == rows_of(checked.page("/check?show=all"))
    assert 'aria-sort="descending"><a href="/check?show=all&amp;sort=distance' in page


def test_cells_stand_beside_the_verdict_as_they_are_written(checked, table):
    page = checked.page("/check?show=all&sort=row&down=0&cells=1")
    (row,) = re.findall(r'<tr>\s*<th scope="row"><a [^>]*rows/5\?.*?</tr>', page, re.DOTALL)
    cells = re.findall(r'<td class="cell[^>]*>([^<]*)</td>', row)
    assert cells[:2] == [table["machine"][5], f"{table['heat [C]'][5]}"]
    assert cells[-1] == table["price"][5]


def test_cells_that_have_no_order_leave_the_rows_as_they_are(visitor, tmp_path):
    table = parts(100).assign(tags=[[9 - k % 9] for k in range(100)])
    table.to_parquet(tmp_path / "listed.parquet")
    assert not visitor.put("/table", tmp_path / "listed.parquet").bad
    assert not visitor.post("/learn").bad
    assert "tags" not in visitor.state.trained.judge.names
    assert not visitor.put("/check", tmp_path / "listed.parquet").bad
    place = visitor.state.checked.table.columns.index("tags")
    page = visitor.page(f"/check?show=all&sort=column-{place}&down=1")
    assert rows_of(page) == list(range(25))


def test_of_many_columns_some_are_shown_and_any_can_be_sorted_by(visitor, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 50)).round(3)).add_prefix("m")
    table.to_csv(tmp_path / "many.csv", index=False)
    visitor.put("/table", tmp_path / "many.csv")
    visitor.post("/learn")
    visitor.put("/check", tmp_path / "many.csv")
    page = visitor.page("/check?show=all&sort=column-49&down=0&cells=1")
    assert rows_of(page) == table["m49"].argsort(kind="stable").tolist()[:25]
    assert "Of 50 columns 41 are shown here" in page
    assert ">m49</a></th>" in page
    assert ">m45</a></th>" not in page


def test_what_was_made_for_an_order_is_made_once_and_not_kept_for_ever():
    made = []

    def make(place):
        made.append(place)
        return SortKey.of(np.array([float(place)]))

    keys = SortKeys()
    for place in [0, 1, 0, 1, *range(2, 9), 1, 0]:
        assert keys.get(place, make).values == place
    assert made == [*range(9), 0]  # 0 was asked for longest ago when a ninth came
