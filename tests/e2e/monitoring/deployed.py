"""What is under deploy/monitoring, and what docs/operations.md says of it, for the tests beside this file."""

import json
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MONITORING = ROOT / "deploy/monitoring"

# Metrics that servers tell and the dashboard leaves out.
NOT_SHOWN = {"process_virtual_memory_bytes"}  # It says nothing about the memory that a server takes.

# What a query finds may be 0 in the fleet of this test, by the panel and the query's legend.
MAY_BE_ZERO = {
    ("Where to look", ""): "it is a verdict, and has a test of its own",
    ("Not as it should be", "not healthy"): "no server hangs",
    ("Not as it should be", "draining"): "no server is stopped",
    ("Requests, by code", "{{backend}} {{code}}"): "what lies behind HTTP is kept after the first epoch",
    ("Spans that wait", "{{stage}}"): "workers may take spans as fast as they are asked for",
}

_METRIC = re.compile(r"(?<![\w:$])(?:stoker|process|grpc_server)_\w+(?![\w:])")


def metrics_of(text):
    """The metrics that a query names, without the endings of histograms' series."""
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in _METRIC.findall(text)}


def panels_of(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def queries_of(dashboard):
    """The panel's title, the query's legend and its expression, of all queries."""
    return [
        (panel["title"], target["legendFormat"], target["expr"])
        for panel in panels_of(dashboard)
        for target in panel["targets"]
    ]


def read_dashboard():
    return json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))


def read_rules():
    return (MONITORING / "alerts.yaml").read_text(encoding="utf-8")


def alerts():
    """Each alert of alerts.yaml by its name, as text."""
    parts = re.split(r"^ +- (?=alert: |record: |name: )", read_rules(), flags=re.M)
    return {part.split()[1]: part for part in parts if part.startswith("alert: ")}


def expressions_of_rules():
    return re.findall(r"^ +expr: (.*(?:\n {10,}.*)*)", read_rules(), re.M)


def documented():
    """The names in the table of docs/operations.md, and whether a name is there."""
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8").partition("## Metrics")[2]
    names = re.findall(r"^\| `(\w+)(…?)` \|", page, re.M)
    assert len(names) > 10, "docs/operations.md has no table of metrics"
    whole, beginnings = ({name for name, more in names if bool(more) == cut} for cut in (False, True))
    return whole, lambda name: name in whole or any(name.startswith(begin) for begin in beginnings)


def filled_in(query, instances, window):
    """The query as Grafana sends it, where `instances`, a regular expression, are chosen, and all datasets."""
    values = {"instance": instances, "dataset": ".*", "job": ".*", "__rate_interval": window}
    query = re.sub(r"\$(\w+)", lambda name: values[name[1]], query)
    assert "$" not in query, query
    return query


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            print(f"SKIPPED: there is no {program}, which ./dev setup installs")
            sys.exit(77)
