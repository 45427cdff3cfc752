"""The card beside a model file: it parses, and nothing that comes from a table is markup."""

import subprocess

import pandas as pd
import pytest
import yaml
from markdown_it import MarkdownIt

import refold
from refold.cards import card_markdown
from tests import warm


@pytest.fixture
def table():
    rows = 80
    return pd.DataFrame(
        {
            "a|b": [k % 7 / 2 for k in range(rows)],
            "<b>grade</b>": ["*A*", "[x](http://y)", "C\nD", "`e`"] * 20,
            "serial": [f"P-{k:04d}" for k in range(rows)],
            "day": pd.date_range("2026-01-01", periods=rows),
            "empty": [None] * rows,
        }
    )


def parsed(text):
    """Return the front matter, and the cells of each table as text, read by a parser."""
    _, front, body = text.split("---\n", 2)
    tokens = MarkdownIt("commonmark").enable("table").parse(body)
    assert not any(token.type.startswith("html") for token in tokens)
    inline = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inline} <= {"text", "softbreak", "text_special"}
    rows, open_row = [], False
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        open_row = token.type in ("td_open", "th_open") or (open_row and token.type == "inline")
        if open_row and token.type == "inline":
            rows[-1].append("".join(child.content for child in token.children))
    return yaml.safe_load(front), rows


def test_the_card_of_a_hostile_table_is_a_card_all_the_same(table):
    front, rows = parsed(card_markdown(refold.Detector().fit(table)))
    assert front["library_name"] == "refold"
    assert "anomaly-detection" in front["tags"]
    columns = {row[0]: row[1:] for row in rows[[row[0] for row in rows].index("column") + 1 :]}
    assert columns["a|b"][:2] == ["number", "0–3"]
    assert columns["<b>grade</b>"][0].startswith("category, ")
    assert "'*A*'" in columns["<b>grade</b>"][1]
    assert columns.keys() == set(table.columns)


@pytest.mark.parametrize("kind", [refold.REF, refold.CreasedREF])
def test_models_of_numbers_have_a_card(kind):
    model = kind(alpha=0.05).fit(pd.DataFrame({"x": range(300), "y": [k % 9 for k in range(300)]}))
    _, rows = parsed(card_markdown(model))
    assert ["Training rows", "300"] in rows
    assert rows[-2:] == [["x", "number", "0–299", "", ""], ["y", "number", "0–8", "", ""]]


def test_the_card_says_how_each_column_was_read():
    prices = [f"{k % 9 + 1},50 €" if k % 7 else None for k in range(70)]
    model = refold.Detector().fit(pd.DataFrame({"price": prices}))
    price = ["price", "number, decimal commas, €", "1.5–9.5 €", model.columns_[0].example, "10"]
    assert parsed(card_markdown(model))[1][-1] == price


def test_the_command_writes_what_the_function_returns(table, tmp_path):
    model = refold.Detector().fit(table)
    refold.save(model, tmp_path / "m.json")
    run = [warm.command(), "card", "m.json", "-o", "README.md"]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)
    expected = card_markdown(model, "m.json").splitlines()
    found = (tmp_path / "README.md").read_text(encoding="utf-8").splitlines()
    same = [(a, b) for a, b in zip(found, expected, strict=True) if a != b]
    assert all("Written" in line for pair in same for line in pair)
    _, rows = parsed("\n".join(found))
    assert rows


def test_the_card_is_no_report_and_promises_rates_of_the_groups_that_were_learned(table):
    table["line"] = ["north", "south"] * 40
    by_line = card_markdown(refold.Detector(by="line").fit(table))
    assert "Rates hold for each group by line" in by_line
    assert "not for each group" not in by_line
    assert "not for each group" in card_markdown(refold.Detector().fit(table))
    assert "report" not in by_line.lower()
