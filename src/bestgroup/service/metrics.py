"""Numbers for operators, in the text format of Prometheus."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from bestgroup._version import __version__

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter(
            "bestgroup_requests", "Requests answered", labels, registry=registry
        )
        self.seconds = Histogram(
            "bestgroup_request_seconds",
            "Time to answer",
            ("route",),
            registry=registry,
            buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
        )
        self.asked = Counter("bestgroup_tickets_asked", "Tickets leased", registry=registry)
        self.told = Counter("bestgroup_observations_told", "New observations", registry=registry)
        self.failed = Counter("bestgroup_tickets_failed", "Tickets given back", registry=registry)
        self.streams = Gauge("bestgroup_event_streams", "Open event streams", registry=registry)
        self.studies = Gauge("bestgroup_studies", "Studies by state", ("state",), registry=registry)
        self.overdue = Gauge(
            "bestgroup_overdue_pulls",
            "Pulls whose lease has ended, open studies",
            registry=registry,
        )
        self.lag = Gauge(
            "bestgroup_certificate_lag",
            "Observations that the page's certificate is behind, the largest of open studies",
            registry=registry,
        )
        self.memory = Gauge(
            "bestgroup_background_resident_memory_bytes",
            "Memory of the process that does what may take long",
            registry=registry,
        )
        ProcessCollector(registry=registry)  # memory, processor time, open files
        build = Gauge("bestgroup_build", "Always 1", ("version",), registry=registry)
        build.labels(__version__).set(1)

    def text(self) -> bytes:
        """Return all metrics as Prometheus reads them."""
        return generate_latest(self.registry)
