"""What Prometheus reads: requests, rows, outliers, time, drift, the process."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from refold.base.version import VERSION
from refold.monitoring import VERDICTS
from refold.service.connections import REASONS, Connections
from refold.service.models import ModelStore
from refold.service.settings import Settings

# Seconds: one row takes a part of a millisecond, a hundred thousand take seconds.
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """Counts of one service."""

    def __init__(self, settings: Settings, connections: Connections) -> None:
        self._registry, self._connections = CollectorRegistry(), connections
        counter = partial(Counter, registry=self._registry)
        gauge = partial(Gauge, registry=self._registry)
        self._requests = counter(
            "refold_requests", "Requests that were answered.", ["model", "status"]
        )
        self._rows = counter("refold_rows", "Rows that were judged.", ["model"])
        self._outliers = counter("refold_outliers", "Outliers among them.", ["model"])
        about = "Time from a request's last byte to its answer."
        self._seconds = Histogram(
            "refold_request_seconds", about, ["model"], buckets=_SECONDS, registry=self._registry
        )
        about = "1 for what the rows that were scored are beside those learned."
        self._drift = gauge("refold_drift", about, ["model", "verdict"])
        about = "Probability of such a change of the rows by chance, however often it is read."
        self._change = gauge("refold_change_p_value", about, ["model"])
        about = "1 if its file cannot be loaded again."
        self._loaded = gauge("refold_model_problem", about, ["model"])
        about = "1 for the model file in service: its SHA-256, and when it was saved."
        self._files = gauge("refold_model_info", about, ["model", "digest", "saved"])
        gauge("refold_info", "1 for the version of refold.", ["version"]).labels(VERSION).set(1)
        ProcessCollector(registry=self._registry)  # memory, processor time, files, start
        about = "Messages to the webhook: delivered, given up after all attempts, dropped unsent."
        self._webhook = counter("refold_webhook", about, ["outcome"])
        for outcome in ("delivered", "given up", "dropped"):
            self._webhook.labels(outcome)
        self._incidents = gauge(
            "refold_incidents", "Incidents since the model was loaded.", ["model"]
        )
        about = "Scored rows that came too quickly to be compared with training."
        self._left_out = gauge("refold_rows_left_out", about, ["model"])
        self._open = gauge("refold_connections", "Open connections.")
        about = "Connections that were closed at a limit since the start."
        self._refused = gauge("refold_connections_refused", about, ["reason"])
        self._limits = gauge("refold_limit", "The limits of the service.", ["setting"])
        for name, value in asdict(settings).items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                self._limits.labels(name).set(value)

    def answered(self, model: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(model, status).inc()
        if model:
            self._seconds.labels(model).observe(seconds)

    def judged(self, model: str, rows: int, outliers: int) -> None:
        """Count rows, and the outliers among them."""
        self._rows.labels(model).inc(rows)
        self._outliers.labels(model).inc(outliers)

    def told(self, outcome: str) -> None:
        """Count what became of a message to the webhook."""
        self._webhook.labels(outcome).inc()

    def text(self, store: ModelStore) -> bytes:
        """Return all of it as Prometheus reads it."""
        self._open.set(len(self._connections))
        self._limits.labels("max_connections").set(self._connections.most)  # files may be scarce
        for reason in REASONS:
            self._refused.labels(reason).set(self._connections.refused[reason])
        self._files.clear()
        for served in store:
            self._files.labels(served.name, served.digest, served.created).set(1)
            self._loaded.labels(served.name).set(store.problem(served.name) is not None)
            state = None if served.watch is None else served.watch.state()
            if state is not None:
                self._change.labels(served.name).set(state.change.p_value)
                self._incidents.labels(served.name).set(state.incidents.total)
                self._left_out.labels(served.name).set(state.left_out)
            drift = None if state is None else state.drift
            for verdict in VERDICTS:
                self._drift.labels(served.name, verdict).set(
                    drift is not None and drift.verdict == verdict
                )
        return generate_latest(self._registry)
