"""A project is saved, opened and compared; what was checked is remembered."""

import io
import json
import re
import zipfile

import numpy as np
import pandas as pd
import pytest

from refold.models.files import load
from tests.app.conftest import new_parts, parts


@pytest.fixture
def worked(visitor, files):
    """Somebody who has learned, checked two files, chosen a rate and accepted a row."""
    visitor.put("/table", files / "parts.csv")
    visitor.post("/table/columns", **{"role-4": "ignore"})
    visitor.post("/learn", without=[3])
    visitor.put("/check", files / "parts.csv")
    visitor.put("/check", files / "new.csv")
    visitor.post("/check/rate", rate=3)
    visitor.post("/check/accept", row=20)
    return visitor


def saved(visitor, tmp_path, name):
    file = tmp_path / name
    file.write_bytes(visitor.take(name))
    return file


def test_a_project_goes_on_where_it_was(worked, visitor_of, files, tmp_path):
    before = worked.state
    file = saved(worked, tmp_path, "project.zip")
    worked.post("/forget")
    assert worked.state.trained is None
    news = worked.put("/project", file)
    assert not news.bad, news
    state = worked.state
    assert state.trained.choice == before.trained.choice
    assert state.trained.rate == before.trained.rate
    assert state.trained.in_use.threshold_ == before.trained.in_use.threshold_
    assert [str(each) for each in state.trained.model.feedback_] == [
        str(each) for each in before.trained.model.feedback_
    ]
    assert state.history == before.history
    for path in ("/", "/learn", "/check", "/limits", "/take", "/compare"):
        worked.page(path)
    worked.put("/check", files / "new.csv")
    np.testing.assert_array_equal(
        worked.state.checked.found.distances, before.checked.found.distances
    )
    assert [each.name for each in worked.state.history] == ["parts.csv", "new.csv", "new.csv"]
    assert worked.page("/check").count("<rect") > 3
    assert "Files checked so far" in worked.page("/check")
    worked.put("/table", files / "parts.csv")
    assert not worked.post("/learn").bad


def test_no_table_is_in_it_unless_wanted(worked, tmp_path):
    without = saved(worked, tmp_path, "project.zip")
    assert zipfile.ZipFile(without).namelist() == ["project.json", "model.json"]
    about = json.loads(zipfile.ZipFile(without).read("project.json"))
    assert about["settings"]["roles"] == {"code": "ignore"}
    assert about["settings"]["without"] == [3]
    assert about["feedback"] == ["1 row accepted; it is normal now."]
    assert [each["outliers"] for each in about["checked"]][-1] > 0
    before = worked.state
    whole = saved(worked, tmp_path, "project-with-tables.zip")
    worked.post("/forget")
    assert not worked.put("/project", whole).bad
    assert worked.state.table.rows == before.table.rows
    np.testing.assert_array_equal(worked.state.checked.found.labels, before.checked.found.labels)
    assert not worked.state.stale
    assert not worked.post("/learn").bad  # the table is there


def archive(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name.replace("_", "."), content)
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"no archive at all",
        archive(readme_txt="x"),
        archive(project_json="{"),
        archive(project_json='{"format": 99}'),
        archive(project_json="[]"),
        archive(project_json='{"format": 1, "files": {}}', model_json="{}"),
        archive(project_json=" " * (17 * 2**20)),
    ],
)
def test_what_is_no_project_is_told_and_changes_nothing(worked, content):
    before, files = worked.state, set(worked.workspace.folder.iterdir())
    news = worked.put("/project", content, name="other.zip")
    assert news.bad
    assert "other.zip cannot be opened as a project" in news.text
    assert "bug" not in news.text
    assert worked.state is before
    assert set(worked.workspace.folder.iterdir()) == files


def test_two_models_are_compared_on_the_new_rows(worked, files, tmp_path):
    old = load(saved(worked, tmp_path, "model.json"))
    shifted = parts(400, seed=3)
    shifted["torque"] += 5.0
    shifted.to_csv(tmp_path / "shifted.csv", index=False)
    project = saved(worked, tmp_path, "project.zip")
    worked.put("/table", tmp_path / "shifted.csv")
    worked.post("/learn")
    new, rows = worked.state.trained.in_use, pd.read_csv(files / "new.csv")
    changed = int(np.sum(old.predict(rows) != new.predict(rows)))
    assert changed > 0
    for file in (project, tmp_path / "model.json"):
        news = worked.put("/compare", file)
        assert not news.bad, news
        page = worked.page("/compare")
        assert f"{changed} rows of 200 in new.csv change their verdict" in page
        shown = re.findall(r'<th scope="row">(\d+)</th>', page)
        turned = np.flatnonzero(old.predict(rows) != new.predict(rows)) + 1
        assert len(shown) == min(changed, 50)
        assert set(map(int, shown)) <= set(turned.tolist())
    assert worked.put("/compare", files / "new.csv").bad
    worked.post("/learn", method="ref")
    assert "change their verdict" not in worked.page("/compare")


def test_columns_that_are_no_longer_as_in_training_are_said(worked, tmp_path):
    moved = new_parts(300)
    moved["heat [C]"] += 3.0
    moved.to_csv(tmp_path / "moved.csv", index=False)
    worked.put("/check", tmp_path / "moved.csv")
    page = worked.page("/check")
    assert "The data has changed" in page
    assert "heat [C]" in page[page.index("Beside training") :]
    assert worked.state.history[-1].changed >= 1
