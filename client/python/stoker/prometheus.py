"""A training job's figures in Prometheus's text format: how long it waits for batches, and what its servers do for it.

    import stoker.prometheus

    exporter = stoker.prometheus.serve(loader, port=9400)     # http://127.0.0.1:9400/metrics, until exporter.close()

Where a job has an exporter already, :func:`text` gives the lines to add to it.
"""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Iterable, List, Mapping, NamedTuple, Tuple, Union

from .errors import CancelledError, InvalidArgumentError
from .loader import Loader

__all__ = ["Exporter", "serve", "text"]

#: The type of what :func:`text` returns, for an HTTP header.
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Loaders = Union[Loader, Mapping[str, Loader]]


class _Counter(NamedTuple):
    """A figure of ``Loader.stats`` that only grows."""

    key: str
    name: str
    help: str


_COUNTERS = [
    _Counter("batches", "stoker_loader_batches_total", "Batches that the training loop took."),
    _Counter("samples", "stoker_loader_samples_total", "Samples of these batches, without padding."),
    _Counter("substituted", "stoker_loader_substituted_total", "Bad samples that others stood in for."),
    _Counter("spans", "stoker_loader_spans_total", "Spans that servers sent."),
    _Counter("bytes", "stoker_loader_received_bytes_total", "Bytes of these spans."),
    _Counter("retried_spans", "stoker_loader_retried_spans_total", "Spans that had to be asked for again."),
    _Counter("hedged_spans", "stoker_loader_hedged_spans_total", "Late spans that a second server was asked for."),
    _Counter("cached_spans", "stoker_loader_cached_spans_total", "Spans that a server had made for another job."),
    _Counter("verified_spans", "stoker_loader_verified_spans_total", "Spans that two servers made alike."),
    _Counter("differing_spans", "stoker_loader_differing_spans_total", "Spans that two servers made differently."),
    _Counter("waited_seconds", "stoker_loader_wait_seconds_total", "Time that the training loop waited for batches."),
    _Counter("received_seconds", "stoker_loader_receive_seconds_total", "Time to check and copy spans."),
    _Counter("transformed_seconds", "stoker_loader_transform_seconds_total", "Time for the ops on the device."),
]

_Sample = Tuple[Mapping[str, str], float]


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _family(name: str, kind: str, help_text: str, samples: Iterable[_Sample]) -> List[str]:
    """The lines of one metric; none where it has no samples."""
    lines = [
        f"{name}{{{','.join(f'{label}={_quoted(text)}' for label, text in labels.items())}}} {value!r}"
        for labels, value in samples
    ]
    return [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}", *lines] if lines else []


def text(loaders: Loaders) -> str:
    """What a loader, or several by their names, has done so far, in Prometheus's text format, version 0.0.4.

    The label ``loader`` is the loader's name, and ``train`` where one alone is given. A loader that was closed is left
    out.
    """
    named = {"train": loaders} if isinstance(loaders, Loader) else dict(loaders)
    stats: List[Tuple[str, Mapping[str, Any]]] = []
    for name, loader in named.items():
        if not isinstance(loader, Loader):
            raise InvalidArgumentError(f"loaders: {name!r} is {type(loader).__name__}, not a Loader")
        with contextlib.suppress(CancelledError):  # It was closed.
            stats.append((name, loader.stats()))
    lines: List[str] = []
    for key, metric, help_text in _COUNTERS:
        lines += _family(metric, "counter", help_text, [({"loader": name}, one[key]) for name, one in stats])
    stages = [
        ({"loader": name, "stage": stage}, seconds)
        for name, one in stats
        for stage, seconds in one["server_seconds"].items()
    ]
    lines += _family("stoker_loader_server_seconds_total", "counter", "What servers spent in each stage.", stages)
    servers = [
        ({"loader": name, "server": server["address"]}, server) for name, one in stats for server in one["servers"]
    ]
    lines += _family(
        "stoker_loader_server_connected",
        "gauge",
        "Whether a server is connected.",
        [(labels, int(server["connected"])) for labels, server in servers],
    )
    lines += _family(
        "stoker_loader_server_spans_total",
        "counter",
        "Spans that came from a server.",
        [(labels, server["spans"]) for labels, server in servers],
    )
    return "".join(line + "\n" for line in lines)


class Exporter:
    """Answers ``GET /metrics`` on a thread of its own, which ends with the process, or by :meth:`close`."""

    def __init__(self, loaders: Loaders, port: int, host: str) -> None:
        class Handler(BaseHTTPRequestHandler):
            timeout = 10  # of who connects and asks nothing

            def do_GET(self) -> None:
                if self.path.partition("?")[0] != "/metrics":
                    self.send_error(404, "there is /metrics alone")
                    return
                body = text(loaders).encode()
                self.send_response(200)
                self.send_header("Content-Type", CONTENT_TYPE)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002, the base class names it
                pass

        self._server = ThreadingHTTPServer((host, port), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="stoker-metrics", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """``HOST:PORT``, the port that was taken where 0 was asked for."""
        host, port = self._server.server_address[:2]
        return f"{host!s}:{port}"

    def close(self) -> None:
        """Stops answering. It may be called twice."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Exporter:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()


def serve(loaders: Loaders, port: int = 0, host: str = "127.0.0.1") -> Exporter:
    """Answers Prometheus at ``http://HOST:PORT/metrics`` with :func:`text` of the loaders.

    The exporter keeps the loaders until it is closed. ``port`` 0 takes a free one. A host other than the loopback lets
    other machines read the figures, and with them the servers' addresses. Raises OSError where the address cannot be
    had.
    """
    text(loaders)  # An error is the caller's, not that of the first scrape.
    return Exporter(loaders, port, host)
