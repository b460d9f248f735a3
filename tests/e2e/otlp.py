"""otlp.py BIN: what a server sends to an OpenTelemetry collector, parsed by OpenTelemetry's own messages."""

import http.server
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

BIN = Path(sys.argv[1])


class Collector(http.server.BaseHTTPRequestHandler):
    received = queue.Queue()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.put((self.path, dict(self.headers), body))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments):
        pass


def metrics_of(request):
    return {one.name: one for one in request.resource_metrics[0].scope_metrics[0].metrics}


def main():
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    environment = {
        **os.environ,
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
        "OTEL_EXPORTER_OTLP_HEADERS": "api-key=secret",
        "OTEL_METRIC_EXPORT_INTERVAL": "300",
        "OTEL_RESOURCE_ATTRIBUTES": "team=vision",
    }
    command = [BIN / "stokerd", "serve", "--synthetic", "16x16x3", "--listen", "127.0.0.1:0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        address = server.stdout.readline().rpartition(" ")[2].strip()
        subprocess.run(
            [BIN / "stoker", "bench", "--servers", address, "--batches", "20"], check=True, stdout=subprocess.DEVNULL
        )
        server.terminate()
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.wait()
    path, headers, body = None, None, None
    while not Collector.received.empty():
        path, headers, body = Collector.received.get()
    assert path == "/v1/metrics" and headers["Content-Type"] == "application/json" and headers["api-key"] == "secret"
    request = json_format.Parse(body, ExportMetricsServiceRequest())
    attributes = {one.key: one.value.string_value for one in request.resource_metrics[0].resource.attributes}
    assert attributes["service.name"] == "stokerd" and attributes["team"] == "vision", attributes
    assert attributes["service.instance.id"].endswith("/" + address) and attributes["host.name"], attributes
    metrics = metrics_of(request)
    samples = metrics["stoker_samples_total"].sum
    assert samples.is_monotonic and samples.data_points[0].as_double > 0, "the last request has all that was done"
    assert metrics["stoker_workers"].gauge.data_points[0].as_double > 0
    stages = metrics["stoker_stage_duration_seconds"].histogram.data_points
    assert all(len(one.bucket_counts) == len(one.explicit_bounds) + 1 for one in stages)
    assert all(sum(one.bucket_counts) == one.count == samples.data_points[0].as_double for one in stages)
    other = {**environment, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=other)
    assert server.stdout.readline().startswith("listening on"), "it serves all the same"
    server.terminate()
    log = server.communicate(timeout=60)[1]
    assert "no metrics are sent: OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' is not spoken" in log, log
    print(f"otlp.py: {len(metrics)} metrics as OpenTelemetry has them")


if __name__ == "__main__":
    main()
