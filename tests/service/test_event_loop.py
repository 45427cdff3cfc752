"""The event loop does nothing that can take long: by its cost, not by its bytes."""

import threading
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from refold.service import ModelStore, Settings, application, create

GOOD = {"x0": 0.1, "x1": 0.2, "x2": 0.3}
CSV = "x0,x1,x2\n1,2,3\n"


@pytest.fixture
def threads(models, monkeypatch):
    """Clients of services by how long a row takes; what they judge notes where it is done."""
    done, in_loop = [], []
    answer, home = application._Service._answer, application._Service._run

    def noted(self, served, query, verdicts, size):
        done.append((threading.get_ident() == in_loop[0], verdicts.total))
        return answer(self, served, query, verdicts, size)

    async def run(self, work, seconds):
        in_loop[:] = [threading.get_ident()]
        return await home(self, work, seconds)

    monkeypatch.setattr(application._Service, "_answer", noted)
    monkeypatch.setattr(application._Service, "_run", run)

    def client(alone, explained, **settings):
        store = ModelStore({"ref": models["ref"], "penguins": models["penguins"]})
        store._served = {
            name: replace(served, row_seconds=(alone, explained))
            for name, served in store._served.items()
        }
        return TestClient(create(store, Settings(**settings), lambda entry: None))

    client.done = done
    return client


@pytest.mark.parametrize(
    ("rows", "asked", "here"),
    [
        (1, "reasons=0", True),
        (10, "reasons=0", True),
        (11, "reasons=0", False),
        (1, "reasons=3", True),
        (2, "reasons=3", False),
        (1, "explain=full", False),
        (1, "explain=full&reasons=0", False),
    ],
)
def test_small_bodies_leave_the_loop_by_their_estimated_cost(threads, rows, asked, here):
    with threads(0.0002, 0.002) as client:
        assert client.post(f"/v1/models/ref/score?{asked}", json=[GOOD] * rows).status_code == 200
    assert threads.done == [(here, rows)]


@pytest.mark.parametrize("kind", ["text/csv", "application/json"])
def test_what_needs_another_reader_or_writer_leaves_the_loop(threads, kind):
    body = CSV if kind == "text/csv" else None
    with threads(0.0, 0.0) as client:
        sent = {"content": body} if body else {"json": [GOOD]}
        headers = {"content-type": kind, "accept": "text/csv" if body is None else "*/*"}
        assert client.post("/v1/models/ref/score", **sent, headers=headers).status_code == 200
    assert threads.done == [(False, 1)]


def test_a_large_body_leaves_the_loop_before_it_is_parsed(threads):
    with threads(0.0, 0.0) as client:
        row = {**GOOD, "note": "x" * 5000}
        assert client.post("/v1/models/ref/score", json=[row]).status_code == 200
    assert threads.done == [(False, 1)]


def test_lines_that_may_all_be_errors_are_read_outside_the_loop(threads, monkeypatch):
    where, read = [], application.read_rows

    def noted(*arguments):
        where.append(threading.get_ident() == loop[0])
        return read(*arguments)

    async def of_loop(self, request):
        loop.append(threading.get_ident())
        return await score(self, request)

    loop, score = [], application._Service._score
    monkeypatch.setattr(application._Service, "_score", of_loop)
    monkeypatch.setattr(application, "read_rows", noted)
    headers = {"content-type": "application/x-ndjson"}
    with threads(0.0, 0.0) as client:
        for body in ("{\n" * 2000, "{\n"):
            client.post("/v1/models/ref/score", content=body, headers=headers)
    assert where == [False, True]


def test_seconds_hold_for_small_requests_that_take_long(threads, monkeypatch):
    """Explanations are made in pieces; the rest is left when nobody waits any more."""
    waiting, made = threading.Event(), []
    explain = application.response_body.__globals__["explain"]

    def slow(model, part, **options):
        made.append(len(part))
        waiting.wait(0.5)
        return explain(model, part, **options)

    monkeypatch.setitem(application.response_body.__globals__, "explain", slow)
    with threads(0.0, 0.0, seconds=0.1, max_requests=1) as client:
        answer = client.post("/v1/models/ref/score?explain=full", json=[GOOD] * 75)
        assert answer.status_code == 503
        waiting.set()
    assert sum(made) < 75


def test_a_request_that_waits_for_a_thread_in_vain_gives_its_place_back(threads, monkeypatch):
    """Two threads are busy; what comes meanwhile is given up before it begins."""
    may_end, began = threading.Event(), threading.Semaphore(0)
    judge = application._Service._judge

    def slow(self, *args):
        began.release()
        may_end.wait(30)
        return judge(self, *args)

    monkeypatch.setattr(application._Service, "_judge", slow)
    with threads(1.0, 1.0, seconds=0.2, max_requests=8) as client:
        answers = []
        asking = [
            threading.Thread(
                target=lambda: answers.append(client.post("/v1/models/ref/score", json=[GOOD]))
            )
            for _ in range(8)
        ]
        for each in asking:
            each.start()
        for each in asking:
            each.join()
        assert {answer.status_code for answer in answers} <= {503, 429}
        may_end.set()
        for _ in range(8):  # all places are free again, or will be soon
            status = client.post("/v1/models/ref/score", json=[GOOD]).status_code
            assert status in (200, 429)
        assert status == 200


def test_rows_are_compared_with_training_outside_the_loop(threads, monkeypatch):
    from refold.service.watching import RowWatch

    compare, where = RowWatch.compare, []

    def noted(self):
        where.append(threading.current_thread() is threading.main_thread())
        compare(self)
        where.append("done")

    monkeypatch.setattr(RowWatch, "compare", noted)
    with threads(0.0, 0.0) as client:
        for _ in range(10):
            client.post("/v1/models/ref/score", json=[GOOD] * 60)
        assert client.get("/v1/models/ref/drift").json()["rows"] == 600
    assert where.count("done") >= 2
    assert not any(each is True for each in where)


def test_a_row_is_timed_when_its_model_is_loaded(models):
    for served in ModelStore(models):
        without, with_reasons = served.row_seconds
        assert 0.0 <= without < 1.0
        assert 0.0 <= with_reasons < 1.0
