#!/usr/bin/env python3
"""dashboard.py: dashboard.json is what make_dashboard.py makes, and hangs together. Its metrics and those of the rules are
those that docs/operations.md lists, and it shows all of these.
"""

import itertools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from deployed import (
    MAY_BE_ZERO,
    MONITORING,
    NOT_SHOWN,
    documented,
    expressions_of_rules,
    metrics_of,
    panels_of,
    queries_of,
    read_dashboard,
)


def check_layout(dashboard):
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)
    taken = set()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        columns, lines = range(at["x"], at["x"] + at["w"]), range(at["y"], at["y"] + at["h"])
        cells = set(itertools.product(columns, lines))
        assert columns[-1] < 24 and not cells & taken, f"{panel['title']} lies on another panel"
        taken |= cells
    for panel in panels_of(dashboard):
        assert panel["description"].endswith("."), panel["title"]
        assert all(target["datasource"]["uid"] == "${datasource}" for target in panel["targets"])


def check_dashboard():
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "dashboard.json"
        subprocess.run([sys.executable, MONITORING / "make_dashboard.py", made], check=True)
        assert (
            made.read_bytes() == (MONITORING / "dashboard.json").read_bytes()
        ), "run deploy/monitoring/make_dashboard.py"

    dashboard = read_dashboard()
    check_layout(dashboard)
    variables = {variable["name"] for variable in dashboard["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps([dashboard["panels"], dashboard["templating"]])))
    assert used - {"__rate_interval", "__all"} == variables, used ^ variables
    titles = [(panel, legend) for panel, legend, _ in queries_of(dashboard)]
    assert len(set(titles)) == len(titles) and set(MAY_BE_ZERO) <= set(titles), set(MAY_BE_ZERO) - set(titles)

    shown = metrics_of("\n".join(query for *_, query in queries_of(dashboard)))
    in_rules = metrics_of("\n".join(expressions_of_rules()))
    names, is_documented = documented()
    unknown = {name for name in shown | in_rules if not is_documented(name)}
    assert not unknown, f"not in docs/operations.md: {unknown}"
    assert names - shown <= NOT_SHOWN, f"the dashboard does not show {names - shown - NOT_SHOWN}"
    print(
        f"dashboard.py: {len(titles)} queries and {len(expressions_of_rules())} rules use {len(shown | in_rules)} metrics"
    )


if __name__ == "__main__":
    check_dashboard()
