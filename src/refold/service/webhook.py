"""Telling people: events are sent to an address by HTTP, beside the work, never in its way."""

from __future__ import annotations

import email.utils
import hashlib
import hmac
import html
import json
import queue
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPException
from typing import Any

from refold.base.errors import UserError
from refold.base.version import VERSION
from refold.service.log import Log
from refold.service.watching import StreamEvent

FORMATS = ("json", "slack", "teams")
_WAITING = 100  # events that wait to be sent; more are dropped
_ATTEMPTS = 5
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds between attempts; each is twice the one before
_SECONDS = 10.0  # that the receiver may be silent
_CLOSING = 5.0  # seconds that are given to what is being sent when the service stops
_AGAIN = {408, 425, 429}  # and 500 and above: later it may succeed


@dataclass(frozen=True, kw_only=True)
class WebhookTarget:
    """Where events are sent."""

    url: str  # http or https
    # What messages are signed with; the receiver has it too.
    secret: str | None = field(default=None, repr=False)
    format: str = "json"  # what the receiver reads: json, slack or teams
    rows: int = 3  # outliers that an incident needs to be told: single ones come by chance

    def __post_init__(self) -> None:
        try:
            parts = urllib.parse.urlsplit(self.url)
            valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            valid = False
        if not valid or not self.url.isascii() or any(c.isspace() for c in self.url):
            raise UserError("The webhook is not an address such as https://example.org/hook.")
        if parts.username is not None:
            raise UserError("The address of a webhook may hold no user: sign with a secret.")
        if self.format not in FORMATS:
            raise UserError(f"webhook format {self.format!r}: one of {', '.join(FORMATS)}.")
        if self.secret is not None and len(self.secret) < 16:
            raise UserError("The secret of a webhook needs at least 16 characters.")
        if self.rows < 1:
            raise UserError("Incidents have at least 1 outlier.")


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return what the header X-Refold-Signature holds: HMAC-SHA256 of ``timestamp.body``."""
    signed = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"v1={signed.hexdigest()}"


class Webhook:
    """Sends events from a thread of its own.

    `log` is told what could not be sent, `count` what became of an event: ``"delivered"``, ``"given
    up"`` or ``"dropped"``. The second attempt comes after `pause` seconds.
    """

    def __init__(
        self,
        target: WebhookTarget,
        log: Log,
        count: Callable[[str], None],
        *,
        pause: float = _FIRST_PAUSE,
        seconds: float = _SECONDS,
    ) -> None:
        self.target, self._log, self._count = target, log, count
        self._pause, self._seconds = pause, seconds
        self._queue: queue.Queue[_Message] = queue.Queue(_WAITING)
        self._stopping = threading.Event()
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._thread = threading.Thread(target=self._work, name="webhook", daemon=True)
        self._thread.start()

    def send(self, model: str, digest: str, event: StreamEvent) -> None:
        """Have an event sent; it returns at once."""
        try:
            self._queue.put_nowait(_Message.of(self.target.format, model, digest, event))
        except queue.Full:
            self._count("dropped")
            problem = f"{_WAITING} others wait to be sent"
            self._log({"event": "webhook dropped", "model": model, "problem": problem})

    def close(self) -> None:
        """Stop; what waits is given up, and said so."""
        self._stopping.set()
        self._thread.join(_CLOSING)
        while not self._queue.empty():
            self._give_up(self._queue.get_nowait(), 0, "the service stops")

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                message = self._queue.get(timeout=0.2)
            except queue.Empty:
                continue
            self._deliver(message)

    def _deliver(self, message: _Message) -> None:
        pause = self._pause
        for attempt in range(1, _ATTEMPTS + 1):
            failure = self._attempt(message)
            if failure is None:
                self._count("delivered")
                return
            problem, later = failure
            if later is None or attempt == _ATTEMPTS:
                break
            if self._stopping.wait(min(max(pause, later), _LONGEST_PAUSE)):
                problem = f"{problem}; the service stops"
                break
            pause *= 2.0
        self._give_up(message, attempt, problem)

    def _give_up(self, message: _Message, attempts: int, problem: str) -> None:
        self._count("given up")
        entry = {"event": "webhook given up", "model": message.model, "delivery": message.delivery}
        self._log({**entry, "attempts": attempts, "problem": problem})

    def _attempt(self, message: _Message) -> tuple[str, float | None] | None:
        """Send once; return what was wrong, and how long to wait at least, None to give up."""
        timestamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"refold/{VERSION}",
            "X-Refold-Event": message.kind,
            "X-Refold-Delivery": message.delivery,
            "X-Refold-Timestamp": timestamp,
        }
        if self.target.secret is not None:
            signed = signature(self.target.secret, timestamp, message.body)
            headers["X-Refold-Signature"] = signed
        request = urllib.request.Request(self.target.url, message.body, headers, method="POST")
        try:
            with self._opener.open(request, timeout=self._seconds):
                return None
        except urllib.error.HTTPError as error:
            with error:
                again = error.code >= 500 or error.code in _AGAIN
                after = _seconds_of(error.headers.get("Retry-After"))
                return f"answered {error.code}", after if again else None
        except (OSError, HTTPException) as error:  # URLError and TimeoutError are OSErrors
            return str(getattr(error, "reason", error)) or type(error).__name__, 0.0


@dataclass(frozen=True)
class _Message:
    """An event as it is sent; attempts have the same name."""

    model: str
    kind: str
    delivery: str
    body: bytes

    @classmethod
    def of(cls, form: str, model: str, digest: str, event: StreamEvent) -> _Message:
        delivery, text = str(uuid.uuid4()), f"{model}: {event.text}"
        if event.kind != "change":
            text = f"{model}, {event.kind}: {event.text}"
        documents: dict[str, Callable[[], dict[str, Any]]] = {
            "json": lambda: {
                "event": event.kind,
                "delivery": delivery,
                "time": datetime.now(UTC).isoformat(timespec="seconds"),
                "model": model,
                "digest": digest,
                "text": event.text,
                "change" if event.kind == "change" else "incident": event.facts,
            },
            # & < > steer Slack: what comes from a table is only shown.
            "slack": lambda: {"text": html.escape(text, quote=False)},
            "teams": lambda: _teams(text),
        }
        body = json.dumps(documents[form](), ensure_ascii=False, allow_nan=False).encode()
        return cls(model, event.kind, delivery, body)


def _teams(text: str) -> dict[str, Any]:
    """Return a message with an adaptive card; a run of text is not read as Markdown."""
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text}]}],
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "content": card}]}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Leaves a redirect as an answer: what is signed for one receiver goes to no other."""

    def redirect_request(self, *arguments: Any, **more: Any) -> None:
        return None


def _seconds_of(header: str | None) -> float:
    """Return how long a receiver asks to wait: seconds, or until a date."""
    if header is None:
        return 0.0
    if header.strip().isdecimal():
        return min(float(header), _LONGEST_PAUSE)
    try:
        return max(email.utils.parsedate_to_datetime(header).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError):
        return 0.0
