"""A job's figures for Prometheus."""

from __future__ import annotations

import re
import shutil
import subprocess
import urllib.error
import urllib.request

import pytest
import stoker.prometheus
from conftest import loader_of

from stoker import InvalidArgumentError


def figures(text):
    """The series by their names with labels."""
    return {key: float(value) for key, value in re.findall(r"^([a-z_]+\{.*?\}) (\S+)$", text, re.MULTILINE)}


def test_a_loaders_figures_are_told_by_its_name(server):
    with loader_of(server) as train, loader_of(server, batch_size=8) as valid:
        list(train)
        next(iter(valid))
        text = stoker.prometheus.text({"train": train, 'the "other"': valid})
        told, stats = figures(text), train.stats()
    assert told['stoker_loader_batches_total{loader="train"}'] == 12
    assert told['stoker_loader_samples_total{loader="the \\"other\\""}'] == 8
    assert told['stoker_loader_received_bytes_total{loader="train"}'] == stats["bytes"] > 0
    assert told[f'stoker_loader_server_spans_total{{loader="train",server="{server.address}"}}'] == stats["spans"]
    assert told[f'stoker_loader_server_connected{{loader="train",server="{server.address}"}}'] == 1
    assert told['stoker_loader_server_seconds_total{loader="train",stage="decode"}'] > 0
    assert stoker.prometheus.text({"train": train}) == "", "it is closed"
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("there is no promtool, which ./dev setup installs")
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_exporter_answers_until_it_is_closed(server):
    with loader_of(server) as loader:
        next(iter(loader))
        with stoker.prometheus.serve(loader) as exporter:
            with urllib.request.urlopen(f"http://{exporter.address}/metrics", timeout=60) as answer:
                assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
                assert 'stoker_loader_batches_total{loader="train"} 1' in answer.read().decode()
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://{exporter.address}/", timeout=60)
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(f"http://{exporter.address}/metrics", timeout=60)
        exporter.close()


def test_what_is_no_loader_is_named():
    with pytest.raises(InvalidArgumentError, match="loaders: 'train' is int, not a Loader"):
        stoker.prometheus.serve({"train": 1})
