"""What reaches a server before anybody is authenticated: bytes that may be no HTTP, or never end.

The server runs here, in a thread; clients are sockets. Nothing is measured by a clock: limits on
time are set to moments, and waited for.
"""

import asyncio
import contextlib
import json
import re
import select
import socket
import threading
from functools import partial

import pytest
import uvicorn

from refold.service import ModelStore, Settings, create
from refold.service.connections import Connections, LimitedProtocol
from tests.waiting import wait_until

TOKEN = "correct-horse-battery"
HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
SCORE = b"POST /v1/models/ref/score HTTP/1.1\r\nHost: 127.0.0.1\r\n"
SCORE += b"Content-Type: application/json\r\nAuthorization: Bearer %s\r\n" % TOKEN.encode()
GOOD = json.dumps([{"x0": 0.1, "x1": 0.2, "x2": 0.3}]).encode()
LENGTH = b"Content-Length: %d\r\n" % len(GOOD)


class Running:
    """A service that listens, and the connections it has."""

    def __init__(self, file, **limits):
        self.log = []
        app = create(ModelStore({"ref": file}), Settings(token=TOKEN, **limits), self.log.append)
        self.connections: Connections = app.state.connections
        self._at = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.port = self._at.getsockname()[1]
        protocol = partial(LimitedProtocol, self.connections)
        idle = self.connections.settings.idle_seconds
        config = uvicorn.Config(
            app, http=protocol, ws="none", log_config=None, timeout_keep_alive=idle
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._server._serve(sockets=[self._at]))
        )

    def __enter__(self):
        self._thread.start()
        wait_until(lambda: self._server.started)
        return self

    def __exit__(self, *error):
        self._server.should_exit = True
        self._thread.join()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def answer(self, *parts):
        """Send bytes in pieces; return what comes back until the server closes or answers."""
        with self.connect() as client, contextlib.suppress(ConnectionError):
            for part in parts:
                client.sendall(part)
            return client.recv(4096)
        return b""

    def assert_others_are_answered(self):
        assert self.answer(HEAD + b"\r\n").startswith(b"HTTP/1.1 200 ")


@pytest.fixture
def running(models):
    with contextlib.ExitStack() as stack:
        yield lambda **limits: stack.enter_context(Running(models["ref"], **limits))


def test_a_header_may_have_so_many_bytes_however_they_come(running):
    server = running(max_header=1000)
    fits = HEAD + b"X: " + b"a" * (1000 - len(HEAD) - 7) + b"\r\n\r\n"
    assert len(fits) == 1000
    pieces = [fits[k : k + 7] for k in range(0, 1000, 7)]
    for parts in ([fits], pieces, [fits + fits]):
        assert server.answer(*parts).startswith(b"HTTP/1.1 200 ")
    larger = fits.replace(b"X: ", b"X: b")
    for parts in ([larger], [larger[k : k + 7] for k in range(0, 1001, 7)]):
        refused = server.answer(*parts)
        assert refused == b"" or refused.startswith(b"HTTP/1.1 431 ")
    assert server.connections.refused["header bytes"] == 2


@pytest.mark.parametrize(
    "opening",
    [
        b"GET /healthz HTTP/1.1\r\nX: ",
        b"GET /",
        b"",
        b"POST /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;",
        b"POST /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: ",
    ],
    ids=["value", "address", "empty lines", "chunk extension", "trailer"],
)
def test_what_never_ends_is_not_kept(running, opening):
    server = running(max_header=4096)
    with server.connect() as client, pytest.raises(ConnectionError):  # noqa: PT012
        client.sendall(opening)
        for _ in range(2**10):  # 64 MB, if anybody took them
            client.sendall(b"\r\n" * 2**15 if not opening else b"a" * 2**16)
    wait_until(lambda: server.connections.refused["header bytes"] == 1)
    server.assert_others_are_answered()


def test_a_request_may_have_so_many_headers(running):
    server = running(max_header_lines=20)
    lines = [b"X-%d: 1\r\n" % number for number in range(20)]
    assert server.answer(HEAD, *lines[:19], b"\r\n").startswith(b"HTTP/1.1 200 ")
    assert server.answer(HEAD, *lines, b"\r\n").startswith(b"HTTP/1.1 431 ")
    assert server.connections.refused["header lines"] == 1


def test_trailers_are_no_headers(running):
    server = running()
    chunks = b"%x\r\n%s\r\n0\r\nAuthorization: Bearer %s\r\n\r\n" % (
        len(GOOD),
        GOOD,
        TOKEN.encode(),
    )
    head = b"POST /v1/models/ref/score HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    assert server.answer(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks).startswith(
        b"HTTP/1.1 401 "
    )


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket"])
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("piece", [1, 100_000])
def test_an_offer_of_another_protocol_is_not_taken_and_nothing_is_lost(
    running, protocol, chunked, piece
):
    """Java's HTTP client makes one with each of its first requests."""
    server = running()
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: %s\r\n" % protocol
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(GOOD), GOOD) if chunked else GOOD
    framing = b"Transfer-Encoding: chunked\r\n" if chunked else LENGTH
    request = SCORE + offer + framing + b"\r\n" + body
    last = HEAD + b"Connection: close\r\n\r\n"
    sent = request + request + HEAD + offer + b"\r\n" + last
    with server.connect() as client:
        for begin in range(0, len(sent), piece):
            client.sendall(sent[begin : begin + piece])
        answer = client.makefile("rb").read()
    assert answer.count(b"HTTP/1.1 200 ") == answer.count(b"HTTP/1.1 ") == 4
    assert answer.count(b'"label"') == 2


def test_a_proxy_is_not_to_be_had(running):
    asked = b"CONNECT %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for target in (b"127.0.0.1:80", b"/healthz"):
        assert running().answer(asked % target).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    ("framing", "body", "status"),
    [
        (b"Transfer-Encoding: chunked\r\n", b"zz\r\n", b"400"),
        (b"Transfer-Encoding: chunked\r\n", b"f" * 17 + b"\r\n", b"400"),
        (b"Transfer-Encoding: chunked\r\n", b"1;" + b"a" * 40_000, b"431"),
        (b"Transfer-Encoding: identity\r\n", GOOD, b"400"),
    ],
)
def test_a_body_that_is_no_http_is_answered(running, framing, body, status):
    server = running()
    head = SCORE + framing + b"\r\n"
    assert server.answer(head + body).startswith(b"HTTP/1.1 %s " % status)
    with server.connect() as client:  # the same in two pieces, and once only
        client.sendall(head)
        wait_until(
            lambda: (
                any(each.cycle for each in server.connections._open)
                or select.select([client], [], [], 0.0)[0]
            )  # the header was answered
        )
        if not select.select([client], [], [], 0.0)[0]:
            client.sendall(body)
        assert client.makefile("rb").read().count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("parts", [[b""], [b"\r\n"], [HEAD], [HEAD + b"\r\n", b"GET /heal"]])
def test_a_header_that_does_not_come_is_not_waited_for(running, parts):
    server = running(header_seconds=0.2)
    with server.connect() as client:
        for part in parts:
            client.sendall(part)
        received = b""
        while piece := client.recv(4096):  # until the server closes
            received += piece
    if parts[0]:
        assert b"HTTP/1.1 408 " in received
    assert server.connections.refused["header time" if parts[0] else "idle"] == 1
    wait_until(lambda: len(server.connections) == 0)


def test_an_idle_connection_is_closed_and_a_busy_one_is_not(running):
    server = running(idle_seconds=1, header_seconds=0.2)
    with server.connect() as client:
        client.sendall(HEAD + b"\r\n")
        received = b""
        while piece := client.recv(4096):
            received += piece
    assert received.startswith(b"HTTP/1.1 200 ")
    assert b"408" not in received


def test_a_body_that_nobody_reads_does_not_keep_a_connection(running):
    """The request is refused for its token; what follows is no next request."""
    server = running(header_seconds=0.2)
    head = b"POST /v1/models/ref/score HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
    with server.connect() as client, contextlib.suppress(ConnectionError):
        client.sendall(head + b"[")
        received = client.recv(4096)
        client.sendall(b" ")
        while piece := client.recv(4096):
            received += piece
    assert received.startswith(b"HTTP/1.1 401 ")
    wait_until(lambda: len(server.connections) == 0)


def test_a_client_that_does_not_read_its_answers_is_not_waited_for(running):
    server = running(seconds=0.2)
    # Not the buffer of the client: a full one loses packets, and sends wait for seconds then.
    server._at.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    with server.connect() as client:
        client.settimeout(0.1)
        requests, sent = (HEAD + b"\r\n") * 64, 0

        def is_refused():
            nonlocal sent
            with contextlib.suppress(OSError):  # nobody takes more now, or it is closed
                sent = (sent + client.send(requests[sent:])) % len(requests)
            return server.connections.refused["unread answer"] == 1

        wait_until(is_refused)
        wait_until(lambda: len(server.connections) == 0)
    server.assert_others_are_answered()


def test_requests_that_come_at_once_wait_unparsed_and_are_all_answered(running, monkeypatch):
    server, asked, waiting = running(max_header=200), 2000, []
    answered = LimitedProtocol.on_response_complete

    def noted(self):
        waiting.append(len(self.pipeline))
        answered(self)

    monkeypatch.setattr(LimitedProtocol, "on_response_complete", noted)
    with server.connect() as client:
        sending = threading.Thread(target=client.sendall, args=((HEAD + b"\r\n") * asked,))
        sending.start()
        received = b""
        while received.count(b'{"status":"alive"}') < asked:
            received += client.recv(1000)
        sending.join()
    assert max(waiting) <= 1
    assert server.connections.refused["unread answer"] == 0


@pytest.mark.parametrize("address", [b"/v1/models/ref/score", b"/healthz"])
def test_a_body_in_tiny_pieces_does_not_keep_others_waiting(running, monkeypatch, address):
    """How many pieces are parsed in one turn of the event loop is counted, not timed."""
    server, pieces, most = running(), 0, []
    taken, received = LimitedProtocol.on_body, LimitedProtocol.data_received

    def counted(self, body):
        nonlocal pieces
        pieces += 1
        taken(self, body)

    def noted(self, data):
        before = pieces
        received(self, data)
        most.append((len(data), pieces - before))

    monkeypatch.setattr(LimitedProtocol, "on_body", counted)
    monkeypatch.setattr(LimitedProtocol, "data_received", noted)
    head = SCORE.replace(b"/v1/models/ref/score", address) + b"Transfer-Encoding: chunked\r\n\r\n"
    body = GOOD + b" " * 100_000
    sent = head + b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    with server.connect() as client:
        client.sendall(sent + HEAD + b"Connection: close\r\n\r\n")
        answer = client.makefile("rb").read()
    assert answer.count(b"HTTP/1.1 200 ") == (2 if b"score" in address else 1)
    assert answer.endswith(b'{"status":"alive"}')
    assert pieces == len(body)
    assert max(count for _, count in most) <= 2**12 // len(b"1\r\n \r\n") + 64


def test_extensions_are_limited_in_all_chunks_together(running):
    server = running(max_header=4096)
    head = SCORE + b"Transfer-Encoding: chunked\r\n\r\n"
    spaces = GOOD + b" " * 1000

    def chunks(extension):
        sent = (b"1%s\r\n%c\r\n" % (extension, byte) for byte in spaces)
        return b"".join(sent) + b"0\r\n\r\n"

    assert server.answer(head, chunks(b";a=b")).startswith(b"HTTP/1.1 200 ")
    assert server.answer(head, chunks(b";" + b"a" * 100)).startswith(b"HTTP/1.1 431 ")


def test_many_clients_that_send_without_end_share_a_turn(running, monkeypatch):
    """How much is parsed in a turn of the event loop is counted; the token is a wrong one."""
    server, turn, flooding = running(), 0, 24
    parsed, begun, calls = 0, set(), []
    parse, received = LimitedProtocol._parse, LimitedProtocol.data_received
    made = LimitedProtocol.connection_made

    def counted(self, data):
        nonlocal parsed
        parsed += len(data)
        parse(self, data)

    def noted(self, data):
        before = parsed
        received(self, data)
        if len(begun) == flooding:
            calls.append((turn, parsed - before))
        begun.add(self)

    def count_turns(loop):
        nonlocal turn
        turn += 1
        if len(server.connections):
            loop.call_soon(count_turns, loop)

    def begin(self, transport):
        made(self, transport)
        if len(server.connections) == 1:
            count_turns(self.loop)

    monkeypatch.setattr(LimitedProtocol, "_parse", counted)
    monkeypatch.setattr(LimitedProtocol, "data_received", noted)
    monkeypatch.setattr(LimitedProtocol, "connection_made", begin)
    head = SCORE.replace(b"Bearer c", b"Bearer x") + b"Transfer-Encoding: chunked\r\n\r\n"
    sent = b"10000\r\n" + b" " * 2**16 + b"\r\n"
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(flooding)]
        for client in clients:
            client.sendall(head)
            client.setblocking(False)
        at = dict.fromkeys(clients, 0)
        while len(calls) < 1000:
            for client in select.select([], clients, [], 1.0)[1]:
                with contextlib.suppress(BlockingIOError):
                    at[client] = (at[client] + client.send(sent[at[client] :])) % len(sent)
    by_turn = dict.fromkeys((number for number, _ in calls), 0)
    for number, size in calls:
        by_turn[number] += size
    assert max(size for _, size in calls) <= 2**16 + 2**12
    assert sum(by_turn.values()) / len(by_turn) <= 8 * (2**16 + 2**12)


def test_requests_that_wait_are_not_read_into_memory(running, monkeypatch):
    """Reading the body of one request is no reason to read the next ones."""
    server, waiting = running(), []
    answered = LimitedProtocol.on_response_complete

    def noted(self):
        waiting.append(len(self._pending))
        answered(self)

    monkeypatch.setattr(LimitedProtocol, "on_response_complete", noted)
    slow = SCORE.replace(b"/score", b"/score?explain=full") + LENGTH + b"\r\n" + GOOD
    with server.connect() as client, contextlib.suppress(ConnectionError):
        client.settimeout(0.1)
        sent, at = slow * 32 + (HEAD + b"\r\n") * 2**16, 0
        while len(waiting) < 32:
            with contextlib.suppress(TimeoutError):
                at += client.send(sent[at:])
    assert max(waiting) <= 2**19  # what is read at once, and not more with each request


def test_more_connections_close_those_that_have_waited_longest(running):
    server = running(max_connections=20)
    silent = [server.connect() for _ in range(20)]
    wait_until(lambda: len(server.connections) == 20)
    for _ in range(30):
        server.assert_others_are_answered()
    wait_until(lambda: len(server.connections) <= 20)
    assert silent[0].recv(1) == b""  # closed
    with contextlib.ExitStack() as stack:
        for client in silent:
            stack.enter_context(client)
    assert server.connections.refused["connections"] >= 1
    refused = [entry for entry in server.log if entry["event"] == "connection refused"]
    assert refused[0]["client"] == "127.0.0.1"
    assert len(refused) < server.connections.refused["connections"] or len(refused) == 1


def test_clients_that_read_no_answers_make_way_for_others(running):
    server = running(max_connections=5, seconds=60)
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            client = stack.enter_context(server.connect())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            with contextlib.suppress(OSError):
                for _ in range(2**8):
                    client.send((HEAD + b"\r\n") * 1000)
        for _ in range(3):
            server.assert_others_are_answered()


def test_what_is_no_http_is_answered_counted_and_logged(running):
    server = running()
    ids = []
    for garbage in (b"\x00\xff nonsense\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01"):
        refused = server.answer(garbage)
        assert refused.startswith(b"HTTP/1.1 400 ")
        assert json.loads(refused.partition(b"\r\n\r\n")[2])["error"]
        ids += re.findall(rb"x-request-id: ([0-9a-f]{16})\r\n", refused)
    assert len(set(ids)) == 3
    assert server.connections.refused["invalid HTTP"] == 3
    assert server.log[0] == {
        "event": "connection refused",
        "reason": "invalid HTTP",
        "count": 1,
        "request_id": ids[0].decode(),
        "client": "127.0.0.1",
    }
    server.assert_others_are_answered()


def test_metrics_show_the_limits_and_what_they_refused(running):
    server = running(max_header=4096, max_header_lines=7)
    server.answer(b"\x00\r\n\r\n")
    asked = (
        HEAD.replace(b"/healthz", b"/metrics") + b"Authorization: Bearer %s\r\n" % TOKEN.encode()
    )
    with server.connect() as client:
        client.sendall(asked + b"Connection: close\r\n\r\n")
        text = b""
        while piece := client.recv(2**16):
            text += piece
    lines = text.decode().splitlines()
    assert 'refold_limit{setting="max_header"} 4096.0' in lines
    assert 'refold_limit{setting="max_header_lines"} 7.0' in lines
    assert 'refold_connections_refused{reason="invalid HTTP"} 1.0' in lines
    assert "refold_connections 1.0" in lines
    assert TOKEN not in text.decode()
