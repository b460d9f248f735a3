#!/usr/bin/env python3
"""make_dashboard.py [FILE]: writes Grafana's dashboard, dashboard.json beside this script or FILE.

Change this script, run it, and commit both. In queries {D} stands for the label filters of the chosen datasets and
servers, {I} for those of the chosen servers, to which more may be added, as {D,outcome="made"}. [R] stands for
Grafana's own rate window.
"""

import itertools
import json
import sys
from pathlib import Path

FILTERS = {
    "{D": '{dataset=~"$dataset",instance=~"$instance"',
    "{I": '{instance=~"$instance"',
    "[R]": "[$__rate_interval]",
}
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
COLUMNS = 24

# Shares of time, 0 to 1, over all that is chosen. A client has one stream to each server that it uses, so a dataset has
# as many clients as the server with the most of its streams. A stream counts for as long as it was open.
WAIT = """sum(rate(stoker_client_wait_seconds_total{D}[R]))
  / (sum(max by (job, dataset) (avg_over_time(stoker_streams_active{D}[R]))) > 0)"""
BUSY = "sum(rate(stoker_worker_busy_seconds_total{I}[R])) / sum(stoker_workers{I})"
BLOCKED = """sum(rate(stoker_send_blocked_seconds_total{D}[R]))
  / (sum(avg_over_time(stoker_streams_active{D}[R])) > 0)"""

# 1: clients do not wait. Else 2: workers are busy; 3: they are not, and sends are blocked; 4: neither is so.
VERDICT = f"""1 + (({WAIT}) >= bool 0.2) * (
  1 + (({BUSY}) < bool 0.7) * (
    2 - (({BLOCKED}) >= bool 0.5)))"""
VERDICTS = {
    1: ("Training: servers keep up", "green"),
    2: ("Servers: add some", "orange"),
    3: ("Network, or clients' receiving", "red"),
    4: ("Neither: storage, memory, latency", "purple"),
}


def expand(query):
    for short, filters in FILTERS.items():
        query = query.replace(short, filters)
    return query


def panel(title, about, *queries, unit="short", width=8, kind="timeseries", stacked=False, most=None):
    """A panel of queries, each a pair of its legend and its expression. `most` is the upper end of the axis."""
    is_graph = kind == "timeseries"
    targets = []
    for letter, (legend, query) in zip("ABCDEFGH", queries):
        target = {"refId": letter, "datasource": DATASOURCE, "expr": expand(query), "legendFormat": legend}
        target |= {"range": True} if is_graph else {"instant": True, "range": False}
        targets.append(target | ({"format": "table"} if kind == "table" else {}))
    defaults = {"unit": unit, "min": 0} | ({} if most is None else {"max": most})
    if is_graph:
        mode = "normal" if stacked else "none"
        defaults["custom"] = {
            "fillOpacity": 40 if stacked else 10,
            "showPoints": "never",
            "stacking": {"mode": mode, "group": "A"},
        }
    made = {
        "type": kind,
        "title": title,
        "description": about,
        "datasource": DATASOURCE,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "targets": targets,
        "width": width,
    }
    if is_graph:
        made["options"] = {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc"},
        }
    return made


def verdict():
    made = panel(
        "Where to look",
        "What the graph beside it says, by its last values. Clients count as waiting from a fifth of their time on, "
        "workers as busy from 70 % of theirs, sends as blocked from half of theirs.",
        ("", VERDICT),
        kind="stat",
    )
    texts = {str(value): {"text": text, "color": color} for value, (text, color) in VERDICTS.items()}
    made["fieldConfig"]["defaults"] |= {"mappings": [{"type": "value", "options": texts}], "noValue": "No clients"}
    made["options"] = {"colorMode": "background", "graphMode": "none", "reduceOptions": {"calcs": ["lastNotNull"]}}
    return made


def bottleneck():
    made = panel(
        "Who is the bottleneck?",
        "Clients wait and workers are busy: add servers. Clients wait, workers are not busy and sends are blocked: "
        "the network, or the clients' receiving. Clients wait and neither is so: storage, memory or latency. Clients "
        "do not wait: training itself is what takes time, and all is well.",
        ("clients wait for batches", WAIT),
        ("workers are busy", BUSY),
        ("sends are blocked", BLOCKED),
        unit="percentunit",
        width=16,
        most=1,
    )
    for name, color in zip(
        ("clients wait for batches", "workers are busy", "sends are blocked"), ("red", "orange", "blue")
    ):
        properties = [{"id": "color", "value": {"mode": "fixed", "fixedColor": color}}]
        made["fieldConfig"]["overrides"].append(
            {"matcher": {"id": "byName", "options": name}, "properties": properties}
        )
    return made


ROWS = {
    "Who is the bottleneck?": [
        bottleneck(),
        verdict(),
        panel(
            "Clients that wait",
            "As many clients as wait at a time. Each tells its servers how long its training loop waited for batches.",
            ("{{dataset}}", "sum by (dataset) (rate(stoker_client_wait_seconds_total{D}[R]))"),
            stacked=True,
        ),
        panel(
            "Workers' load",
            "Share of time that each server's workers make samples. Reading counts, as far as they do it themselves.",
            ("{{instance}}", "rate(stoker_worker_busy_seconds_total{I}[R]) / stoker_workers{I}"),
            unit="percentunit",
            most=1,
        ),
        panel(
            "Sends that are blocked",
            "As many streams as wait at a time for their client's connection. A write counts when it is done.",
            ("{{instance}}", "sum by (instance) (rate(stoker_send_blocked_seconds_total{D}[R]))"),
            stacked=True,
        ),
    ],
    "Rates": [
        panel(
            "Samples, by dataset",
            "Samples that were made, or taken from the span cache.",
            ("{{dataset}}", "sum by (dataset) (rate(stoker_samples_total{D}[R]))"),
            stacked=True,
        ),
        panel(
            "Samples, by server",
            "A server far below the others is slow, or clients do not reach it.",
            ("{{instance}}", "sum by (instance) (rate(stoker_samples_total{D}[R]))"),
        ),
        panel(
            "Spans",
            "Spans by what became of them.",
            ("{{outcome}}", "sum by (outcome) (rate(stoker_spans_total{D}[R]))"),
            stacked=True,
        ),
        panel(
            "Sent, by dataset",
            "Bytes of spans that clients' connections took.",
            ("{{dataset}}", "sum by (dataset) (rate(stoker_sent_bytes_total{D}[R]))"),
            unit="Bps",
            stacked=True,
        ),
        panel(
            "Sent, by server",
            "Compare it with what the servers' network cards can do.",
            ("{{instance}}", "sum by (instance) (rate(stoker_sent_bytes_total{D}[R]))"),
            unit="Bps",
        ),
        panel(
            "Read, by source",
            "Bytes that servers read of datasets.",
            ("{{source}}", "sum by (source) (rate(stoker_read_bytes_total{I}[R]))"),
            unit="Bps",
            stacked=True,
        ),
    ],
    "Stages": [
        panel(
            "Where workers' time goes",
            "As many workers as are in each stage at a time.",
            ("{{stage}}", "sum by (stage) (rate(stoker_stage_duration_seconds_sum{D}[R]))"),
            stacked=True,
        ),
        panel(
            "A sample's mean time",
            "Time of one sample in each stage. Samples from the span cache take none and are left out.",
            (
                "{{stage}}",
                "sum by (stage) (rate(stoker_stage_duration_seconds_sum{D}[R]))\n"
                "  / sum by (stage) (rate(stoker_stage_duration_seconds_count{D}[R]))",
            ),
            unit="s",
        ),
        panel(
            "A sample's time: p50 and p99",
            "A sample counts as the mean of its span, so single slow samples hide in it.",
            *(
                (
                    f"{{{{stage}}}} p{name}",
                    f"histogram_quantile({q}, sum by (stage, le) (rate(stoker_stage_duration_seconds_bucket{{D}}[R])))",
                )
                for name, q in (("50", 0.5), ("99", 0.99))
            ),
            unit="s",
        ),
    ],
    "Workers and queues": [
        panel("Workers", "Threads that make spans.", ("{{instance}}", "stoker_workers{I}"), stacked=True),
        panel(
            "Spans that wait",
            "Spans that are wanted, and wait for their samples' bytes (fetch) or for a worker (work).",
            ("{{stage}}", "sum by (stage) (stoker_queue_depth{I})"),
        ),
        panel(
            "Memory for spans",
            "What spans in the making and those that wait to be sent take, and what they may take.",
            ("{{instance}}", "stoker_slab_used_bytes{I}"),
            ("{{instance}} at most", "stoker_slab_bytes{I}"),
            unit="bytes",
        ),
    ],
    "Streams and calls": [
        panel(
            "Open streams, by dataset",
            "A client has one to each server that it uses, or as many as its option `connections` says.",
            ("{{dataset}}", "sum by (dataset) (stoker_streams_active{D})"),
            stacked=True,
        ),
        panel(
            "Open streams, by server",
            "A server with fewer than the others is one that clients do not reach.",
            ("{{instance}}", "sum by (instance) (stoker_streams_active{D})"),
        ),
        panel(
            "Streams that were refused",
            "Streams that ended before they were open. The server's log says why.",
            ("{{instance}}", "rate(stoker_streams_refused_total{I}[R])"),
        ),
        panel(
            "Calls",
            "Calls of gRPC that ended.",
            (
                "{{grpc_method}} {{grpc_status}}",
                "sum by (grpc_method, grpc_status) (rate(grpc_server_call_duration_seconds_count{I}[R]))",
            ),
            width=12,
        ),
        panel(
            "Time of calls: p99",
            "Streams are left out, which last as long as their jobs.",
            (
                "{{grpc_method}}",
                "histogram_quantile(0.99, sum by (grpc_method, le) (\n"
                '  rate(grpc_server_call_duration_seconds_bucket{I,grpc_method!~".*Stream"}[R])))',
            ),
            unit="s",
            width=12,
        ),
    ],
    "Caches": [
        panel(
            "Found",
            "Share of what each cache was asked for that it had.",
            (
                "{{cache}}",
                'sum by (cache) (rate(stoker_cache_requests_total{I,result="hit"}[R]))\n'
                "  / sum by (cache) (rate(stoker_cache_requests_total{I}[R]))",
            ),
            unit="percentunit",
            most=1,
        ),
        panel(
            "Asked for",
            "What caches were asked for.",
            ("{{cache}} {{result}}", "sum by (cache, result) (rate(stoker_cache_requests_total{I}[R]))"),
        ),
        panel(
            "Kept",
            "Bytes that caches keep.",
            ("{{cache}}", "sum by (cache) (stoker_cache_bytes{I})"),
            unit="bytes",
            stacked=True,
        ),
    ],
    "Errors": [
        panel(
            "Samples that were substituted, spans that failed",
            "`substituted` counts samples; the others are spans that failed by a sample, the pipeline or the machine.",
            ("{{dataset}} {{reason}}", "sum by (dataset, reason) (rate(stoker_sample_errors_total{D}[R]))"),
            width=12,
        ),
        panel(
            "Share of samples that were substituted",
            "`stokerd scan` names the bad ones.",
            (
                "{{dataset}}",
                'sum by (dataset) (rate(stoker_sample_errors_total{D,reason="substituted"}[R]))\n'
                "  / sum by (dataset) (rate(stoker_samples_total{D}[R]))",
            ),
            unit="percentunit",
        ),
        panel(
            "Not as it should be",
            "Servers whose last reload failed, that are not healthy, and that drain.",
            ("reload failed", "sum(1 - stoker_config_reload_success{I})"),
            ("not healthy", "sum(1 - stoker_healthy{I})"),
            ("draining", "sum(stoker_draining{I})"),
            width=4,
            kind="stat",
        ),
    ],
    "Storage": [
        panel(
            "Requests, by code",
            "Requests to stores.",
            ("{{backend}} {{code}}", "sum by (backend, code) (rate(stoker_storage_requests_total{I}[R]))"),
            width=12,
        ),
        panel(
            "Read, by server",
            "Bytes that each server read of datasets.",
            ("{{instance}}", "sum by (instance) (rate(stoker_read_bytes_total{I}[R]))"),
            unit="Bps",
            width=12,
        ),
    ],
    "Processes": [
        panel(
            "Processors", "Processors that each server uses.", ("{{instance}}", "rate(process_cpu_seconds_total{I}[R])")
        ),
        panel(
            "Resident memory",
            "A server stays below its `memory_limit`.",
            ("{{instance}}", "process_resident_memory_bytes{I}"),
            ("{{instance}} limit", "stoker_memory_limit_bytes{I}"),
            unit="bytes",
        ),
        panel("Threads", "Threads of each server.", ("{{instance}}", "process_threads{I}")),
        panel(
            "Descriptors",
            "Open ones, of those that may be open.",
            ("{{instance}}", "process_open_fds{I} / process_max_fds{I}"),
            unit="percentunit",
        ),
        panel(
            "Up since",
            "Time since each server started.",
            ("{{instance}}", "time() - process_start_time_seconds{I}"),
            unit="s",
        ),
        panel(
            "Servers that answer Prometheus",
            "The alert StokerServerDown names those that do not.",
            ("answer", 'sum(up{job=~"$job"})'),
            ("are known", 'count(up{job=~"$job"})'),
            kind="stat",
        ),
    ],
    "Builds": [
        panel(
            "What is running",
            "Servers of each build. Clients refuse a server whose pixels differ from the others'.",
            ("", "count by (version, grpc) (stoker_build_info{I})"),
            width=24,
            kind="table",
        ),
    ],
}


def variables():
    def of_labels(name, label, query, **more):
        return {
            "type": "query",
            "name": name,
            "label": label,
            "datasource": DATASOURCE,
            "query": {"query": query, "refId": name},
            "definition": query,
            "includeAll": True,
            "multi": True,
            "current": {"text": ["All"], "value": ["$__all"]},
            "refresh": 2,  # When the dashboard's time range changes.
            "sort": 1,
        } | more

    return [
        {"type": "datasource", "name": "datasource", "label": "Prometheus", "query": "prometheus"},
        of_labels("job", "fleet", "label_values(stoker_build_info, job)"),
        of_labels("instance", "server", 'label_values(stoker_build_info{job=~"$job"}, instance)'),
        of_labels("dataset", "dataset", 'label_values(stoker_streams_active{job=~"$job"}, dataset)', allValue=".*"),
    ]


def laid_out(rows):
    """All panels, with their places and ids: below each row's title its panels from left to right."""
    panels, ids, top = [], itertools.count(1), 0
    for title, members in rows.items():
        at = {"h": 1, "w": COLUMNS, "x": 0, "y": top}
        panels.append({"type": "row", "id": next(ids), "title": title, "collapsed": False, "gridPos": at, "panels": []})
        top, left, height = top + 1, 0, 8
        for member in members:
            width = member["width"]
            if left + width > COLUMNS:
                top, left = top + height, 0
            at = {"h": height, "w": width, "x": left, "y": top}
            panels.append(
                {"id": next(ids), "gridPos": at} | {key: value for key, value in member.items() if key != "width"}
            )
            left += width
        top += height
    return panels


def dashboard():
    return {
        "title": "Stoker",
        "uid": "stoker",
        "description": "A fleet of stokerd. docs/deploy/monitoring.md says how to read it.",
        "tags": ["stoker"],
        "schemaVersion": 37,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": variables()},
        "annotations": {"list": []},
        "panels": laid_out(ROWS),
    }


def main():
    if any(argument.startswith("-") for argument in sys.argv[1:]):
        sys.exit(__doc__)
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("dashboard.json")
    file.write_text(json.dumps(dashboard(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
