"""A visitor of the page, without a browser."""

import urllib.parse

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from refold.app import Session, Workspace, create_app

ORIGIN = "http://127.0.0.1:8000"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Visitor:
    """Somebody who was let in, and waits until what they began is done."""

    def __init__(self, workspace, session, **headers):
        headers = {"Origin": ORIGIN, "Accept": "text/html", **FORM, **headers}
        app = create_app(workspace, session)
        self.client = TestClient(app, base_url=ORIGIN + session.root, headers=headers)
        self.workspace, self.root = workspace, session.root
        self.client.get(session.address())

    def get(self, path):
        return self.client.get(path)

    def page(self, path):
        """Return a page, with links as if it had no secret path."""
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text.replace(f'="{self.root}/', '="/')

    def send(self, path, **fields):
        """Send a form of a page that is up to date; return the answer."""
        fields = {"version": self.workspace.version, **fields}
        body = urllib.parse.urlencode(fields, doseq=True)
        return self.client.post(path, content=body, follow_redirects=False)

    def post(self, path, **fields):
        """Send a form; return what came of it."""
        answer = self.send(path, **fields)
        assert answer.status_code == 303, answer.text
        self.workspace.worker.wait(120)
        return self.workspace.news

    def put(self, path, file, name=None):
        """Send a file; return what came of it."""
        content = file if isinstance(file, bytes) else file.read_bytes()
        asked = {"name": name or getattr(file, "name", "table.csv")}
        given = urllib.parse.urlencode({**asked, "version": self.workspace.version})
        answer = self.client.put(f"{path}?{given}", content=content)
        assert answer.status_code == 202, answer.text
        self.workspace.worker.wait(120)
        return self.workspace.news

    def take(self, name):
        """Prepare a file and fetch it."""
        news = self.post("/take", name=name)
        assert not news.bad, news
        answer = self.client.get(f"/take/{name}")
        assert answer.status_code == 200
        return answer.content

    @property
    def state(self):
        return self.workspace.state


@pytest.fixture
def visitor_of(tmp_path):
    def visitor(**limits):
        folder = tmp_path / "work"
        folder.mkdir(exist_ok=True)
        return Visitor(Workspace(folder, **limits), Session(8000))

    return visitor


@pytest.fixture
def visitor(visitor_of):
    return visitor_of()


def parts(rows, seed=0):
    """Return a table with every kind of column; its values depend on each other."""
    rng = np.random.default_rng(seed)
    machine = rng.choice(["A", "B"], rows)
    heat = rng.normal(20.0, 2.0, rows).round(2)
    days = pd.Timestamp("2026-03-02") + pd.to_timedelta(rng.integers(0, 60, rows), "D")
    table = pd.DataFrame(
        {
            "machine": machine,
            "heat [C]": heat,
            "torque": (75 + 0.8 * (heat - 20) + rng.normal(0, 0.5, rows)).round(3),
            "day": days.strftime("%Y-%m-%d"),
            "code": [f"K-{k:04d}" for k in rng.integers(0, 9999, rows)],
            "state": "good",
        }
    )
    table.loc[::17, "heat [C]"] = np.nan
    return table


def new_parts(rows=200):
    """Return new rows, of which some are wrong in known ways."""
    table = parts(rows, seed=1)
    table.loc[5:9, "torque"] = 91.5
    table.loc[20, "machine"] = "Z"
    table.loc[30, "state"] = "bad"
    return table


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Files of normal rows and of new ones."""
    folder = tmp_path_factory.mktemp("parts")
    parts(400).to_csv(folder / "parts.csv", index=False)
    new_parts().to_csv(folder / "new.csv", index=False)
    mixed = parts(400)
    mixed.loc[::10, "state"] = "bad"
    mixed.loc[::10, "torque"] += 9.0
    mixed.to_excel(folder / "mixed.xlsx", index=False, engine="xlsxwriter")
    return folder
