"""People are told of incidents and changes by a real HTTP receiver, and no verdict waits for it."""

import contextlib
import json
import queue
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import refold
from refold.base.errors import UserError
from refold.service import ModelStore, Settings, WebhookTarget, create
from refold.service.watching import RowWatch, StreamEvent
from refold.service.webhook import Webhook, signature

SECRET = "a secret that both sides know"
EVENT = StreamEvent("incident begun", "rows 3–5: <x> 16 × the limit", {"outliers": 3})
NORMAL, BROKEN = [{"x0": 0.1, "x1": 0.2, "x2": 0.3}], [{"x0": 9.0, "x1": 0.2, "x2": 0.3}]


class Receiver:
    """Keeps what comes, and answers with the statuses it was given, then 204."""

    def __init__(self, *statuses, headers=()):
        self.got, self.released = queue.Queue(), threading.Event()
        self.released.set()
        answers, receiver = list(statuses), self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.put((dict(self.headers), body))
                receiver.released.wait(30)
                with contextlib.suppress(OSError):
                    self.send_response(answers.pop(0) if answers else 204)
                    for name, value in headers:
                        self.send_header(name, value)
                    self.end_headers()

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.released.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver_of():
    made = []

    def receiver(*statuses, **how):
        made.append(Receiver(*statuses, **how))
        return made[-1]

    yield receiver
    for one in made:
        one.close()


@pytest.fixture
def sender_of():
    made = []

    def sender(url, seconds=5.0, **how):
        log, outcomes = queue.Queue(), queue.Queue()
        target = WebhookTarget(url=url, **how)
        made.append(Webhook(target, log.put, outcomes.put, pause=0.001, seconds=seconds))
        return made[-1], log, outcomes

    yield sender
    for one in made:
        one.close()


def test_what_comes_is_signed_and_says_what_happened(receiver_of, sender_of):
    receiver = receiver_of()
    webhook, _, outcomes = sender_of(receiver.url, secret=SECRET)
    webhook.send("line4", "abc", EVENT)
    headers, body = receiver.got.get(timeout=10)
    assert outcomes.get(timeout=10) == "delivered"
    said = json.loads(body)
    assert (said["event"], said["model"], said["digest"]) == ("incident begun", "line4", "abc")
    assert (said["text"], said["incident"]) == (EVENT.text, {"outliers": 3})
    assert said["delivery"] == headers["X-Refold-Delivery"]
    expected = signature(SECRET, headers["X-Refold-Timestamp"], body)
    assert headers["X-Refold-Signature"] == expected
    assert signature("another secret, as long", headers["X-Refold-Timestamp"], body) != expected


@pytest.mark.parametrize("form", ["slack", "teams"])
def test_chats_get_their_own_form_in_which_a_table_can_steer_nothing(receiver_of, sender_of, form):
    receiver = receiver_of()
    webhook, _, _ = sender_of(receiver.url, format=form)
    webhook.send("line4", "abc", EVENT)
    headers, body = receiver.got.get(timeout=10)
    said = json.loads(body)
    assert "X-Refold-Signature" not in headers
    if form == "slack":
        assert said == {
            "text": "line4, incident begun: rows 3–5: &lt;x&gt; 16 × the limit"  # no <!channel>
        }
    else:
        (card,) = said["attachments"]
        (block,) = card["content"]["body"]
        assert block["inlines"] == [
            {"type": "TextRun", "text": "line4, incident begun: rows 3–5: <x> 16 × the limit"}
        ]


def test_a_receiver_that_is_in_trouble_is_asked_again(receiver_of, sender_of):
    receiver = receiver_of(500, 503, 429)
    webhook, log, outcomes = sender_of(receiver.url)
    webhook.send("line4", "abc", EVENT)
    assert outcomes.get(timeout=20) == "delivered"
    came = [receiver.got.get(timeout=1) for _ in range(4)]
    assert len({headers["X-Refold-Delivery"] for headers, _ in came}) == 1
    assert len({body for _, body in came}) == 1
    assert log.empty()


@pytest.mark.parametrize(
    ("statuses", "attempts"), [([500] * 9, 5), ([404], 1), ([302], 1)], ids=["500", "404", "302"]
)
def test_what_is_refused_is_given_up_and_logged(receiver_of, sender_of, statuses, attempts):
    elsewhere = receiver_of()
    receiver = receiver_of(*statuses, headers=[("Location", elsewhere.url)])
    webhook, log, outcomes = sender_of(receiver.url, secret=SECRET)
    webhook.send("line4", "abc", EVENT)
    assert outcomes.get(timeout=20) == "given up"
    entry = log.get(timeout=1)
    assert (entry["event"], entry["attempts"]) == ("webhook given up", attempts)
    assert entry["problem"] == f"answered {statuses[0]}"
    assert receiver.got.qsize() == attempts
    assert elsewhere.got.empty()
    assert SECRET not in str(entry) + repr(webhook.target)


def test_a_receiver_that_is_down_is_given_up(sender_of):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        webhook, log, outcomes = sender_of(f"http://127.0.0.1:{closed.getsockname()[1]}/")
        webhook.send("line4", "abc", EVENT)
        assert outcomes.get(timeout=20) == "given up"
    assert "refused" in log.get(timeout=1)["problem"]


def test_one_that_hangs_is_left_and_what_is_too_much_is_dropped(receiver_of, sender_of):
    receiver = receiver_of()
    receiver.released.clear()
    webhook, log, outcomes = sender_of(receiver.url, seconds=0.05)
    for _ in range(150):
        webhook.send("line4", "abc", EVENT)
    ends = [outcomes.get(timeout=20) for _ in range(50)]
    assert ends.count("dropped") >= 48
    assert log.get(timeout=1)["event"] == "webhook dropped"
    while outcomes.get(timeout=20) != "given up":
        pass
    receiver.released.set()


@pytest.fixture
def served(models, monkeypatch):
    """Return a client of a service that tells a receiver."""
    from starlette.testclient import TestClient

    monkeypatch.setattr("refold.service.application._LOOKED_FOR_CHANGES", 0.01)
    with contextlib.ExitStack() as stack:

        def client(url, **how):
            target = WebhookTarget(url=url, **how)
            store = ModelStore({"ref": models["ref"]})
            app = create(store, Settings(webhook=target), lambda entry: None)
            return stack.enter_context(TestClient(app))

        yield client


def post(client, rows):
    answer = client.post("/v1/models/ref/score", json=rows)
    assert answer.status_code == 200
    return [row["label"] for row in answer.json()["rows"]]


def test_an_incident_is_told_when_it_begins_and_when_it_ends(receiver_of, served):
    receiver = receiver_of()
    client = served(receiver.url, secret=SECRET)
    rng = np.random.default_rng(0)
    usual = [dict(zip(NORMAL[0], row, strict=True)) for row in rng.normal(0, 0.8, (13, 3)).tolist()]
    post(client, usual[:3] + BROKEN * 2)  # two are too few to be told of
    post(client, BROKEN)
    said = json.loads(receiver.got.get(timeout=20)[1])
    assert said["event"] == "incident begun"
    assert said["incident"]["rows"] == [3, 4, 5]
    post(client, BROKEN + usual[3:])
    said = {"event": "change"}  # so many outliers are one, too
    while said["event"] == "change":
        said = json.loads(receiver.got.get(timeout=20)[1])
    assert (said["event"], said["incident"]["outliers"]) == ("incident ended", 4)
    assert said["model"] == "ref"


def test_a_verdict_does_not_wait_for_a_receiver_that_hangs(receiver_of, served):
    receiver = receiver_of()
    receiver.released.clear()
    client = served(receiver.url)
    post(client, BROKEN * 3)
    receiver.got.get(timeout=20)  # it has the message, and does not answer
    assert post(client, NORMAL + BROKEN) == [1, -1]
    assert client.get("/v1/models/ref/incidents").json()["total"] == 1
    receiver.released.set()


def test_a_change_is_told_once(models):
    model = refold.load(models["ref"])
    watch, rng = RowWatch(model), np.random.default_rng(0)
    kinds = []
    for _ in range(4):
        watch.add(refold.judgement.Judgement.of(model, rng.normal(0.8, 1.0, size=(300, 3))))
        kinds += [event.kind for event in watch.events(10_000)]
    assert kinds == ["change"]


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"url": "ftp://example.org"}, "not an address such as"),
        ({"url": "http://"}, "not an address such as"),
        ({"url": "http://[::1"}, "not an address such as"),
        ({"url": "http://a b"}, "not an address such as"),
        ({"url": "https://me:you@example.org"}, "may hold no user"),
        ({"url": "https://example.org", "format": "xml"}, "one of json, slack, teams"),
        ({"url": "https://example.org", "secret": "short"}, "at least 16 characters"),
        ({"url": "https://example.org", "rows": 0}, "at least 1 outlier"),
    ],
)
def test_what_cannot_be_is_refused(how, sentence):
    with pytest.raises(UserError, match=sentence):
        WebhookTarget(**how)
