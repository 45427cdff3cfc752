"""How far long work has come, and that it can be ended."""

import threading

import pytest

from refold.app.jobs import Job

STEPS = ["/table", "/learn", "/check", "/limits", "scored.csv"]


def begin(visitor, files, step):
    """Do all that comes before a step, and return what begins it."""
    for each in STEPS:
        if each in ("/table", "/check"):
            file = files / ("parts.csv" if each == "/table" else "new.csv")
            asked = f"{each}?name={file.name}&version={visitor.workspace.version}"

            def start(asked=asked, file=file):
                return visitor.client.put(asked, content=file.read_bytes())

        else:
            path, fields = ("/take", {"name": each}) if "." in each else (each, {})

            def start(path=path, fields=fields):
                return visitor.send(path, **fields)

        if each == step:
            return start
        start()
        visitor.workspace.worker.wait(60)
    raise ValueError(step)


@pytest.mark.parametrize("step", STEPS)
def test_a_job_that_is_cancelled_ends_and_changes_nothing(visitor, files, step, monkeypatch):
    start = begin(visitor, files, step)
    before, files_before = visitor.state, set(visitor.workspace.folder.iterdir())
    reached, go_on, check = threading.Event(), threading.Event(), Job.check

    def checked(job):
        if job.share:  # it has come some way
            reached.set()
            assert go_on.wait(60)
        check(job)

    monkeypatch.setattr(Job, "check", checked)
    assert start().status_code in (202, 303)
    assert reached.wait(60)
    assert 0.0 < visitor.client.get("/progress").json()["share"] <= 1.0
    page = visitor.page("/")
    assert "<progress" in page
    assert ">Cancel</button>" in page
    assert visitor.client.post("/cancel", content="here=/learn").status_code == 200
    assert "Stopping" in visitor.page("/")
    go_on.set()
    visitor.workspace.worker.wait(60)
    monkeypatch.undo()
    assert "Cancelled" in visitor.page("/")
    assert visitor.state is before
    assert set(visitor.workspace.folder.iterdir()) == files_before
    start()  # nothing is in its way
    visitor.workspace.worker.wait(60)
    assert not visitor.workspace.news.bad
    assert visitor.state is not before


@pytest.mark.parametrize("step", ["/table", "/learn"])
def test_the_share_grows_from_step_to_step(visitor, files, step, monkeypatch):
    start, seen, report = begin(visitor, files, step), {}, Job.report

    def reported(job, share):
        report(job, share)
        seen.setdefault(job.what, []).append(job.share)

    monkeypatch.setattr(Job, "report", reported)
    start()
    visitor.workspace.worker.wait(60)
    assert max(len(set(shares)) for shares in seen.values()) > 5
    for shares in seen.values():
        assert shares == sorted(shares)
        assert 0.0 <= shares[0] <= shares[-1] <= 1.0


def test_nothing_is_cancelled_where_nothing_is_under_way(visitor, files):
    visitor.client.post("/cancel", content="")
    assert not visitor.put("/table", files / "parts.csv").bad
    assert visitor.state.table is not None
