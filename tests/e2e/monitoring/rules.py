#!/usr/bin/env python3
"""rules.py: the commands of docs/deploy/monitoring.md succeed. So promtool finds nothing wrong with the configuration and
the rules, and their unit tests pass; and these see it where an alert never fires, fires at once, or at half of its threshold.

Exits with 77 where there is no promtool.
"""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from deployed import MONITORING, ROOT, alerts, filled_in, need, queries_of, read_dashboard, read_rules


def page():
    return (ROOT / "docs/deploy/monitoring.md").read_text(encoding="utf-8")


def unit_tests(folder):
    return sorted(folder.glob("alerts*_test.yaml"))


def passes(folder, *files):
    done = subprocess.run(["promtool", "test", "rules", *files], cwd=folder, capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def check_that_tests_can_fail(folder):
    """The unit tests miss each alert that never fires, and see each that fires at once or at half of its threshold."""
    whole = read_rules()
    threshold = re.compile(r"> (0\.\d+|[1-9])")
    halved = lambda found: f"> {float(found[1]) / 2}"
    for change, noticed in (
        (
            lambda rule: re.sub(r"^ +expr: .*(\n {10,}.*)*", "        expr: vector(1) < 0", rule, count=1, flags=re.M),
            "missed",
        ),
        (lambda rule: re.sub(r"^ +for: .*\n", "", rule, flags=re.M), "surprising"),
        (lambda rule: threshold.sub(halved, rule), "surprising"),
    ):
        changed, names = whole, set()
        for name, rule in alerts().items():
            if change(rule) != rule:
                changed, names = changed.replace(rule, change(rule)), names | {name}
        (folder / "alerts.yaml").write_text(changed, encoding="utf-8")
        seen = differences(passes(folder, *unit_tests(folder))[1])[noticed]
        assert names and names <= seen, f"no test sees a change of {names - seen}: {changed}"
        print(f"rules.py: a change of {len(names)} alerts was seen, of each")
    (folder / "alerts.yaml").write_text(whole, encoding="utf-8")


def differences(said):
    """The alerts that a unit test expected in vain, and those that fired beyond what it expected, by what promtool said."""
    names = {"missed": set(), "surprising": set()}
    for expected, got in re.findall(r"exp: ?(.*)\n +got: ?(.*)", said):
        fired = [set(re.findall(r'\{(.*?alertname="\w+".*?)\}', alerts)) for alerts in (expected, got)]
        for kind, which in (("missed", fired[0] - fired[1]), ("surprising", fired[1] - fired[0])):
            names[kind] |= {re.search(r'alertname="(\w+)"', labels)[1] for labels in which}
    return names


def check_annotations():
    """Each alert says what it is about, by labels that it has, and what to do."""
    tests = "".join(file.read_text(encoding="utf-8") for file in unit_tests(MONITORING))
    for name, rule in alerts().items():
        fired = [set(re.findall(r"(\w+)=", labels)) for labels in re.findall(rf'\{{alertname="{name}",(.*?)\}}', tests)]
        assert fired, f"no test sees {name}"
        used = set(re.findall(r"\$labels\.(\w+)", rule))
        assert all(used <= labels for labels in fired), f"{name} has {fired}, and its annotations use {used}"
        assert (
            re.search(r"severity: (info|warning|critical)\}", rule) and "summary: " in rule and "description: " in rule
        ), rule


def check_verdicts(folder):
    """The dashboard's verdict is what the page says of each case: clients wait, workers are busy, sends are blocked."""
    query = next(query for panel, _, query in queries_of(read_dashboard()) if panel == "Where to look")
    cases = [
        ((0.1, 0.9, 0.9), 1),
        ((0.1, 0.1, 0.1), 1),
        ((0.5, 0.9, 0.9), 2),
        ((0.5, 0.5, 0.9), 3),
        ((0.5, 0.5, 0.1), 4),
    ]
    tests = []
    for (wait, busy, blocked), verdict in cases:
        # Two servers of four workers, two clients.
        series = {
            'stoker_streams_active{dataset="d",instance="%s",job="j"}': "2x20",
            'stoker_workers{instance="%s",job="j"}': "4x20",
            'stoker_client_wait_seconds_total{dataset="d",instance="%s",job="j"}': f"0+{60 * wait}x20",
            'stoker_worker_busy_seconds_total{instance="%s",job="j"}': f"0+{240 * busy}x20",
            'stoker_send_blocked_seconds_total{dataset="d",instance="%s",job="j"}': f"0+{120 * blocked}x20",
        }
        samples = [{"labels": "{}", "value": verdict}]
        tests.append(
            {
                "interval": "1m",
                "input_series": [
                    {"series": name % server, "values": values} for name, values in series.items() for server in "ab"
                ],
                "promql_expr_test": [
                    {"expr": filled_in(query, "a|b", "4m"), "eval_time": "15m", "exp_samples": samples}
                ],
            }
        )
    (folder / "verdicts.yaml").write_text(json.dumps({"evaluation_interval": "1m", "tests": tests}))
    passed, said = passes(folder, "verdicts.yaml")
    assert passed, said


def check_rules():
    need("promtool", "openssl")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "deploy/monitoring"
        shutil.copytree(MONITORING, copy)
        commands = re.search(r"^```sh\n(cd deploy/monitoring\n.*?)^```", page(), re.M | re.S)[1]
        assert {"promtool check config", "promtool test rules"} <= set(re.findall(r"^promtool \w+ \w+", commands, re.M))
        subprocess.run(["bash", "-euc", commands], cwd=folder, check=True)
        subprocess.run(["promtool", "check", "rules", "--lint-fatal", "alerts.yaml"], cwd=copy, check=True)
        check_that_tests_can_fail(copy)
        check_verdicts(copy)
    check_annotations()


if __name__ == "__main__":
    check_rules()
