"""Where servers go on a Ray cluster and how many there are, without Ray."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from conftest import python

from stoker import InvalidArgumentError, _ray_plan
from stoker import ray as stoker_ray
from stoker._ray_plan import Autoscale, Meter, Scaler


def node(name, alive=True, labels=None, **resources):
    return {"NodeID": name, "Alive": alive, "Resources": resources, "Labels": labels or {}}


def fitting(nodes, resources=None, labels=None, cpus=None):
    return [one["NodeID"] for one in _ray_plan.fitting_nodes(nodes, cpus, resources or {}, labels or {})]


def test_the_package_and_its_ray_module_import_no_ray():
    told = python("import sys, stoker, stoker.ray; print('ray' in sys.modules, stoker.ray.serve.__name__)")
    assert told.split() == ["False", "serve"]


def test_without_ray_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match="stoker.ray needs Ray: pip install ray"):
        stoker_ray.serve("photos")


def test_servers_go_to_live_nodes_with_cpus_and_without_gpus():
    nodes = [
        node("d", CPU=8),
        node("a", CPU=8, GPU=1),
        node("b", CPU=8),
        node("c", alive=False, CPU=8),
        node("e", GPU=1),
    ]
    assert fitting(nodes) == fitting(nodes, cpus=8) == ["b", "d"] and fitting(nodes, cpus=9) == []


def test_resources_and_labels_choose_nodes_with_gpus_too():
    nodes = [node("a", CPU=8, GPU=1, stoker=1), node("b", CPU=8, stoker=0.5), node("c", CPU=8, labels={"kind": "cpu"})]
    assert fitting(nodes, {"stoker": 1}) == ["a"]
    assert fitting(nodes, labels={"kind": "cpu"}) == ["c"]
    assert fitting(nodes, {"stoker": 1}, {"kind": "cpu"}) == []


def test_what_lacks_is_started_and_the_newest_ends_first():
    assert _ray_plan.placed(["a", "b", "c"], ["b"], None) == (["a", "c"], [])
    assert _ray_plan.placed(["a", "b", "c"], ["b"], 2) == (["a"], [])
    assert _ray_plan.placed(["a", "b", "c"], ["b", "c", "a"], 1) == ([], ["c", "a"])
    assert _ray_plan.placed(["a"], ["a"], 3) == ([], [])


def test_it_grows_after_two_long_waits_to_what_would_have_sufficed():
    scaler = Scaler(Autoscale(min=1, max=6))
    assert scaler.decide(4, 4, 9, 0.25, 1.0, 0) == 4
    assert scaler.decide(4, 4, 9, 0.25, 1.0, 15) == 6  # 4 ÷ 0.75, which is at most as many as may be.
    scaler = Scaler(Autoscale(min=1))
    for now, wait, expected in ((0, 0.9, 2), (15, 0.0, 2), (30, 0.9, 2), (45, 0.9, 4)):  # Twice as many at most.
        assert scaler.decide(2, 2, 9, wait, None, now) == expected
    assert Scaler(Autoscale(min=1)).decide(5, 2, 3, None, None, 0) == 3  # There are no more nodes.


def test_servers_that_are_starting_are_not_taken_away_again():
    scaler = Scaler(Autoscale(min=1, patience=10))
    for now in (0, 20, 40):
        assert scaler.decide(4, 2, 9, 0.0, 0.1, now) == 4


def test_it_shrinks_one_by_one_where_nobody_waits_and_the_rest_would_not_be_busy():
    scaler = Scaler(Autoscale(min=2, patience=100))
    target, seen = 4, []
    for now in range(0, 600, 50):
        target = scaler.decide(target, target, 9, 0.0, 0.3, now)
        seen.append(target)
    assert seen == [4, 4, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2]
    scaler = Scaler(Autoscale(min=1, patience=0))
    assert [scaler.decide(2, 2, 9, 0.0, busy, now) for now, busy in enumerate((0.5, 0.5, None))] == [2, 2, 2]
    assert scaler.decide(2, 2, 9, None, 0.1, 3) == 2  # Nobody knows whether they wait.


def test_rules_that_contradict_themselves_are_refused():
    for wrong in ({"min": 0}, {"min": 3, "max": 2}, {"up_wait": 0.01}, {"up_wait": 1.0}, {"period": 0}):
        with pytest.raises(ValueError, match="autoscale"):
            Autoscale(**wrong)


def figures(waited=None, worked=0.0, workers=2.0, clients=2.0):
    told = {"stoker_workers": workers, "stoker_streams_active": clients, "stoker_worker_busy_seconds_total": worked}
    return told if waited is None else {**told, "stoker_client_wait_seconds_total": waited}


def test_shares_are_those_of_servers_that_were_there_the_last_time_too():
    meter = Meter()
    assert meter.measure({"a": figures(5, 100)}, 10) == (None, None)
    wait, busy = meter.measure({"a": figures(9, 110), "b": figures(1000, 1000)}, 20)
    assert wait == pytest.approx(4 / (10 * 2)) and busy == pytest.approx(10 / (10 * 2))
    wait, busy = meter.measure({"b": figures(1006, 1004), "a": figures(0, 0)}, 30)  # a's stokerd was started anew.
    assert wait == pytest.approx(6 / (10 * 2)) and busy == pytest.approx(4 / (10 * 4))
    assert meter.measure({"a": figures(), "b": figures()}, 40)[0] is None  # Such servers are told of no waits.


def test_plaintext_for_other_machines_is_an_explicit_choice():
    stoker_ray._refuse_open_addresses(["127.0.0.1", "::1"])
    with pytest.raises(InvalidArgumentError, match="insecure: other machines reach 10.0.0.7; .*insecure=True"):
        stoker_ray._refuse_open_addresses(["127.0.0.1", "10.0.0.7"])


def test_what_is_served_is_a_configuration():
    served = json.loads(stoker_ray._config_text({"name": "a", "data": Path("/a")}, None, 30))
    assert served == {"datasets": [{"name": "a", "data": "/a"}], "drain_seconds": 30}
    assert served == json.loads(stoker_ray._config_text(None, {"datasets": served["datasets"]}, 30))
    assert json.loads(stoker_ray._config_text(None, {**served, "drain_seconds": 7}, 30))["drain_seconds"] == 7
    here = json.loads(stoker_ray._config_text(["a", "s3://b/{0..3}.tar"], None, 30))["datasets"]
    assert here == [{"data": os.path.abspath("a")}, {"data": "s3://b/{0..3}.tar"}]
    for datasets, config, word in (
        (None, None, "what to serve"),
        ("/a", {}, "not by both"),
        ([], None, "there is none"),
        (None, {"listen": "0.0.0.0:1"}, "sets listen itself"),
    ):
        with pytest.raises(InvalidArgumentError, match=word):
            stoker_ray._config_text(datasets, config, 30)


def test_what_ray_cannot_reserve_is_refused():
    _ray_plan.check_reserved(None, {"GPU": 0.5, "memory": 32e9})
    _ray_plan.check_reserved(0.5, {})
    for cpus, resources, words in (
        (1.5, {}, "cpus: Ray reserves whole numbers, or parts of one, not 1.5"),
        (1, {"stoker": 2.5}, "stoker: "),
        (1, {"stoker": -1}, "stoker: "),
        (1, {"CPU": 4}, "cpus="),
    ):
        with pytest.raises(ValueError, match=words):
            _ray_plan.check_reserved(cpus, resources)


def test_an_actors_error_is_told_with_its_cause():
    text = "The actor died in its creation task\n  File ...\n\nModuleNotFoundError: No module named 'stoker'\n"
    assert _ray_plan.first_and_last_line(text) == (
        "The actor died in its creation task; ModuleNotFoundError: No module named 'stoker'"
    )
    assert _ray_plan.first_and_last_line("The node died") == "The node died"
    assert _ray_plan.first_and_last_line("") == "no reason is told"
