"""What is out of date: forms of old pages, models of old tables, old messages."""

import re

import pytest

from tests.app.conftest import new_parts, parts


@pytest.fixture
def checked(visitor, files):
    visitor.put("/table", files / "parts.csv")
    visitor.post("/learn")
    visitor.put("/check", files / "new.csv")
    return visitor


def form_of(page, action):
    """Return the hidden fields of the form that goes to an address."""
    (form,) = re.findall(rf'<form[^>]*action="{action}"[^>]*>(.*?)</form>', page, re.DOTALL)
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))


def test_a_form_about_other_rows_is_refused(checked, tmp_path):
    old = form_of(checked.page("/check/rows/20"), "/check/accept")
    new_parts(150).to_csv(tmp_path / "other.csv", index=False)
    checked.put("/check", tmp_path / "other.csv")
    answer = checked.send("/check/accept", **old)
    assert answer.status_code == 409
    assert "changed since this page was opened" in answer.text
    assert checked.state.trained.model.feedback_ == ()
    now = form_of(checked.page("/check/rows/20"), "/check/accept")
    assert checked.send("/check/accept", **now).status_code == 303


def test_a_form_about_another_table_is_refused_and_one_without_version_too(checked, tmp_path):
    old = form_of(checked.page("/"), "/table/columns")
    parts(200, seed=4).to_csv(tmp_path / "other.csv", index=False)
    checked.put("/table", tmp_path / "other.csv")
    assert checked.send("/table/columns", **old, **{"role-0": "ignore"}).status_code == 409
    assert checked.client.post("/table/columns", content="role-0=ignore").status_code == 400
    assert checked.state.choice.roles == {}


def test_a_file_that_was_prepared_makes_no_page_out_of_date(checked):
    old = form_of(checked.page("/check/rows/20"), "/check/accept")
    checked.take("model.json")
    assert checked.send("/check/accept", **old).status_code == 303


def test_a_row_accepted_at_another_rate_is_normal_at_that_rate(checked):
    checked.post("/check/rate", rate=len(checked.state.checked.rates) - 1)
    found = checked.state.checked.found
    row = int(found.worst_first[-1])  # hardly an outlier, at 20 % only
    news = checked.post("/check/accept", row=row)
    assert "it is normal now" in news.text
    assert checked.state.checked.found.labels[row] == 1
    assert checked.state.trained.in_use.alpha_ == found.judge.alpha
    far = int(found.worst_first[0])
    news = checked.post("/check/accept", row=far)
    assert ("it is normal now" in news.text) == (checked.state.checked.found.labels[far] == 1)
    checked.post("/check/undo")
    checked.post("/check/undo")
    assert (checked.state.checked.found.distances == found.distances).all()
    assert checked.state.trained.in_use.alpha_ == found.judge.alpha


def test_the_rate_of_one_table_is_not_that_of_the_next(checked, tmp_path):
    checked.post("/check/rate", rate=len(checked.state.checked.rates) - 1)
    parts(300, seed=5).to_csv(tmp_path / "other.csv", index=False)
    checked.put("/table", tmp_path / "other.csv")
    checked.post("/learn")
    assert checked.state.trained.rate is None
    assert "About 20 %" not in checked.page("/learn")


def test_what_came_of_something_is_said_on_one_page_only(checked):
    checked.take("model.json")
    assert "model.json is ready" in checked.page("/take")
    assert "model.json is ready" in checked.page("/take")  # it was only loaded again
    assert "model.json is ready" not in checked.page("/learn")
    assert "model.json is ready" not in checked.page("/take")


def test_a_model_of_another_table_is_demoted_everywhere(checked, tmp_path):
    parts(200, seed=4).to_csv(tmp_path / "other.csv", index=False)
    checked.put("/table", tmp_path / "other.csv")
    page = checked.page("/learn")
    assert "Learn what is normal" in page
    assert "Next: check new rows" not in page
    for path in ("/check", "/check/rows/0", "/limits", "/take"):
        assert "learned from parts.csv, before" in checked.page(path), path
    checked.post("/learn")
    for path in ("/check", "/limits", "/take"):
        assert "before the table was changed" not in checked.page(path)
