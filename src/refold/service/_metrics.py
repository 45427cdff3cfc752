"""What Prometheus reads: requests, rows, outliers, time, drift."""

from __future__ import annotations

from dataclasses import asdict

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from refold.monitoring import VERDICTS
from refold.service._connections import REASONS, Connections
from refold.service._models import ModelStore
from refold.service._settings import Settings

# Seconds: one row takes a part of a millisecond, a hundred thousand take seconds.
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """Counts of one service."""

    def __init__(self, settings: Settings, connections: Connections) -> None:
        self._registry = at = CollectorRegistry()
        self._connections = connections
        self._requests = Counter(
            "refold_requests", "Requests that were answered.", ["model", "status"], registry=at
        )
        self._rows = Counter("refold_rows", "Rows that were judged.", ["model"], registry=at)
        self._outliers = Counter("refold_outliers", "Outliers among them.", ["model"], registry=at)
        self._seconds = Histogram(
            "refold_request_seconds",
            "Time from a request's last byte to its answer.",
            ["model"],
            buckets=_SECONDS,
            registry=at,
        )
        self._drift = Gauge(
            "refold_drift",
            "1 for what the rows that were scored are beside those learned.",
            ["model", "verdict"],
            registry=at,
        )
        # What is counted for every request, by model: looking it up takes longer than counting.
        self._of_model: dict[str, tuple[Counter, Counter, Histogram]] = {}
        self._of_status: dict[tuple[str, int], Counter] = {}
        self._loaded = Gauge(
            "refold_model_problem",
            "1 if its file cannot be loaded anew.",
            ["model"],
            registry=at,
        )
        self._open = Gauge("refold_connections", "Open connections.", registry=at)
        self._refused = Gauge(
            "refold_connections_refused",
            "Connections that were closed at a limit since the start.",
            ["reason"],
            registry=at,
        )
        limits = Gauge("refold_limit", "The limits of the service.", ["setting"], registry=at)
        for name, value in asdict(settings).items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                limits.labels(name).set(value)

    def answered(self, model: str, status: int, seconds: float) -> None:
        """Count a request."""
        counted = self._of_status.get((model, status))
        if counted is None:
            counted = self._of_status[model, status] = self._requests.labels(model, str(status))
        counted.inc()
        if model:
            self._counts(model)[2].observe(seconds)

    def judged(self, model: str, rows: int, outliers: int) -> None:
        """Count rows, and the outliers among them."""
        counted = self._counts(model)
        counted[0].inc(rows)
        if outliers:
            counted[1].inc(outliers)

    def _counts(self, model: str) -> tuple[Counter, Counter, Histogram]:
        known = self._of_model.get(model)
        if known is None:
            rows, outliers = self._rows.labels(model), self._outliers.labels(model)
            known = self._of_model[model] = rows, outliers, self._seconds.labels(model)
        return known

    def text(self, store: ModelStore) -> bytes:
        """Return all of it as Prometheus reads it."""
        self._open.set(len(self._connections))
        for reason in REASONS:
            self._refused.labels(reason).set(self._connections.refused[reason])
        for served in store:
            self._loaded.labels(served.name).set(store.problem(served.name) is not None)
            drift = None if served.watch is None else served.watch.result()
            for verdict in VERDICTS:
                self._drift.labels(served.name, verdict).set(
                    drift is not None and drift.verdict == verdict
                )
        return generate_latest(self._registry)
