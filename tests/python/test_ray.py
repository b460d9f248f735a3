"""Servers on a Ray cluster of several nodes, a real one in this machine: placed, killed, replaced, scaled and ended."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest
from conftest import BINARIES

import stoker
import stoker.ray
from stoker import _ray_members

_FOLDER = tempfile.mkdtemp(prefix="ray-")  # In few letters, since paths of Ray's sockets are below it.
# Ray reads some of it when it is imported, and its nodes have it from here.
os.environ.update(
    PATH=os.pathsep.join([str(BINARIES), os.environ["PATH"]]),
    XDG_CACHE_HOME=f"{_FOLDER}/cache",
    RAY_TMPDIR=_FOLDER,
    RAY_AUTH_TOKEN=secrets.token_hex(32),
    RAY_USAGE_STATS_ENABLED="0",
    RAY_worker_niceness="0",
    RAY_DEDUP_LOGS="0",
)
try:
    import ray
except ImportError:
    pytestmark = pytest.mark.skip("there is no Ray; tests/python/make_environment.sh --all installs it")

ROOT = Path(__file__).parents[2]
SERVE = {"insecure": True}  # Ray gives nodes this machine's address, no loopback's.
LARGE = [stoker.transforms.RandomResizedCrop(224), stoker.transforms.RandomHorizontalFlip()]  # Eight samples a span.
NODE = {"num_cpus": 2, "object_store_memory": 80 << 20, "resources": {"stoker": 1}, "labels": {"kind": "cpu"}}


@pytest.fixture(scope="module")
def cluster():
    """A head without CPUs, and three nodes."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0, "include_dashboard": False})
    for _ in range(3):
        made.add_node(**NODE, wait=False)
    made.wait_for_nodes()
    ray.init(address=made.address, logging_level="warning", log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()
    shutil.rmtree(_FOLDER, ignore_errors=True)


@pytest.fixture
def serve(cluster, photos):
    """Starts a fleet that serves the photographs, as stoker.ray.serve does."""
    fleets = []

    def start(**options):
        fleets.append(stoker.ray.serve(**{"datasets": photos, **SERVE, **options}))
        return fleets[-1]

    yield start
    for fleet in fleets:
        fleet.stop()


@pytest.fixture(scope="module")
def digests(server):
    """Those of the first epochs, by a single server that nobody disturbs."""
    with loader_of(server.address) as loader:
        return [loader.digest(epoch) for epoch in range(3)]


def loader_of(servers, **options):
    given = {
        "batch_size": 8,
        "transforms": LARGE,
        "last_batch": "partial",
        "output": "numpy",
        "prefetch": 1,
        "verify": 0,
    }
    return stoker.Loader(servers, **{**given, **options})


def wait_until(so, what, seconds=120.0):
    deadline = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < deadline, what()
        time.sleep(0.05)


def up(fleet):
    return [one for one in fleet.status() if one.state == "up"]


def wait_for_servers(fleet, count):
    """Until so many are up and no others are left, and this process knows their addresses."""
    known = lambda: {one.address for one in up(fleet)} == set(fleet.servers.addresses())  # noqa: E731
    wait_until(lambda: len(fleet.status()) == len(up(fleet)) == count and known(), fleet.status)


def lives(process):
    """Whether it does, and is no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def parent_of(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def digest_of_epoch(loader, disturb):
    """The digest of the loader's next epoch, in which `disturb` is called with the number of each batch."""
    digest = stoker.Digest()
    for number, batch in enumerate(loader.batches()):
        digest.add(batch)
        disturb(number)
    return digest.hexdigest()


def driver_node():
    return ray.get_runtime_context().get_node_id()


def test_servers_and_nodes_that_die_in_mid_epoch_are_replaced(cluster, serve, digests):
    spare = cluster.add_node(**NODE)
    cluster.wait_for_nodes()
    fleet = serve(nodes=3)
    wait_for_servers(fleet, 3)
    loader = loader_of(fleet.servers)
    first = {one.address: one for one in fleet.status()}
    lost = []

    def disturb(number):
        if number == 5:
            for one in first.values():  # All at once: nobody is left, until the actors have started them again.
                os.kill(one.pid, signal.SIGKILL)
        if number == 12:
            wait_until(lambda: all(one.state == "up" and one.restarts == 1 for one in fleet.status()), fleet.status)
            assert {one.address for one in fleet.status()} == set(first), "they are where they were"
            victim = next(one for one in fleet.status() if one.node != driver_node())
            lost.append(victim)
            actor = parent_of(victim.pid)
            for process in (parent_of(actor), actor):  # The raylet first, which would clear up after the actor.
                os.kill(process, signal.SIGKILL)
            nodes = {node.node_id: node for node in cluster.worker_nodes}
            cluster.remove_node(nodes[victim.node], allow_graceful=False)

    assert digest_of_epoch(loader, disturb) == digests[0]
    (lost,) = lost
    wait_until(lambda: lost.node not in [one.node for one in fleet.status()], fleet.status)
    wait_for_servers(fleet, 3)
    assert not lives(lost.pid) and lost.address not in fleet.servers.addresses()
    (new,) = {one.address for one in fleet.status()} - set(first)

    def is_connected():
        return any(one["address"] == new and not one["problem"] for one in loader.stats()["servers"])

    wait_until(is_connected, loader.stats)
    assert digest_of_epoch(loader, lambda number: None) == digests[1]
    with loader_of(new) as alone:
        assert alone.digest(2) == digests[2]
    loader.close()
    fleet.stop()
    if spare in cluster.worker_nodes and len(cluster.worker_nodes) > 3:
        cluster.remove_node(spare)


def test_the_number_of_servers_changes_in_mid_epoch(serve, digests):
    fleet = serve(nodes=1)
    wait_for_servers(fleet, 1)
    loader = loader_of(fleet.servers)
    before = []

    def disturb(number):
        if number == 3:
            fleet.scale(3)
            wait_for_servers(fleet, 3)
            before.extend(up(fleet))
        if number == 12:
            fleet.scale(1)
            wait_for_servers(fleet, 1)

    assert digest_of_epoch(loader, disturb) == digests[0]
    assert len(before) == 3 and sum(lives(one.pid) for one in before) == 1
    fleet.scale(None)
    wait_for_servers(fleet, 3)
    assert loader.digest(1) == digests[1]
    loader.close()


def test_tasks_are_given_the_servers_and_follow_them_too(serve, digests):
    fleet = serve(nodes=2, resources={"stoker": 1}, labels={"kind": "cpu"})

    @ray.remote(num_cpus=0)
    def read(servers, transforms):
        import stoker

        loader = stoker.Loader(
            servers, batch_size=8, transforms=transforms, last_batch="partial", output="dlpack", verify=0
        )
        return loader.digest(0), servers.addresses()

    assert ray.get(read.remote(fleet.servers, LARGE)) == (digests[0], fleet.servers.addresses())


def test_a_server_that_hangs_is_started_again(serve, digests):
    fleet = serve(nodes=1, unhealthy_seconds=0.5)
    (hung,) = up(fleet)
    os.kill(hung.pid, signal.SIGSTOP)
    wait_until(lambda: [one.pid for one in up(fleet)] not in ([], [hung.pid]), fleet.status)
    (again,) = up(fleet)
    assert again.restarts >= 1 and again.address == hung.address and not lives(hung.pid)
    with loader_of(fleet.servers) as loader:
        assert loader.digest(0) == digests[0]


def test_a_server_dies_with_its_actor_and_is_replaced(serve, digests):
    fleet = serve(nodes=1)
    (before,) = up(fleet)
    os.kill(parent_of(before.pid), signal.SIGKILL)
    wait_until(lambda: not lives(before.pid), lambda: "it outlives its actor")
    wait_until(lambda: [one.pid for one in up(fleet)] not in ([], [before.pid]), fleet.status)
    with loader_of(fleet.servers, connect_timeout=60) as loader:
        assert loader.digest(0) == digests[0]


def test_a_fleet_whose_controller_is_killed_comes_back(serve, digests):
    fleet = serve(nodes=2)
    loader = loader_of(fleet.servers, connect_timeout=60)
    before = up(fleet)

    def disturb(number):
        if number == 5:
            ray.kill(fleet._controller, no_restart=False)
            wait_until(lambda: not any(lives(one.pid) for one in before), lambda: "servers outlive their fleet")
            wait_for_servers(fleet, 2)

    assert digest_of_epoch(loader, disturb) == digests[0]
    loader.close()


_DRIVER = """
    import sys, time
    import ray, stoker.ray

    address, photos, stokerd = sys.argv[1:]
    ray.init(address=address, logging_level="error", log_to_driver=False)
    fleet = stoker.ray.serve(photos, stokerd=stokerd, insecure=True, nodes=2)
    print(*(one.pid for one in fleet.status()), flush=True)
    if sys.stdin.readline():  # The test lets it end; it does not stop the fleet.
        sys.exit()
    time.sleep(1000)
"""


@pytest.mark.parametrize("end", ["by itself", "by SIGKILL"])
def test_no_server_outlives_its_driver(cluster, photos, end):
    command = [sys.executable, "-c", textwrap.dedent(_DRIVER), cluster.address, photos, BINARIES / "stokerd"]
    with subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as driver:
        servers = [int(pid) for pid in driver.stdout.readline().split()]
        assert len(servers) == 2 and all(map(lives, servers))
        if end == "by SIGKILL":
            driver.kill()
        else:
            driver.stdin.write("end\n")
            driver.stdin.flush()
        assert driver.wait(120) == (0 if end == "by itself" else -signal.SIGKILL)
        wait_until(lambda: not any(map(lives, servers)), lambda: f"stokerd lives on: {servers}")


def test_it_scales_by_the_waits_that_it_is_told(serve, tmp_path):
    told = tmp_path / "wait"
    told.write_text("0.5")

    def wait():
        return float(told.read_text())

    fleet = serve(autoscale=stoker.ray.Autoscale(min=1, max=3, period=0.2, patience=0.5, wait=wait))
    wait_for_servers(fleet, 3)
    told.write_text("0")
    wait_for_servers(fleet, 1)
    fleet.scale(None)  # One on each node, which goes on from there.
    wait_until(lambda: len(fleet.status()) > 1, fleet.status)
    wait_for_servers(fleet, 1)


@pytest.mark.parametrize("told", ["to the fleet", "to the servers"])
def test_it_scales_by_what_loaders_wait(serve, monkeypatch, told):
    monkeypatch.setattr(_ray_members, "_REPORT_EVERY", 0.2)
    slow = {"name": "slow", "synthetic": {"samples": 100_000, "spin_us": 20_000, "fields": [
        {"name": "image", "dtype": "uint8", "shape": [224, 224, 3]}]}}  # fmt: skip
    fleet = serve(datasets=[slow], autoscale=stoker.ray.Autoscale(min=1, max=2, period=2), cpus=1)
    loader = loader_of(fleet.servers, transforms=[])
    if told == "to the fleet":
        fleet.servers.watch(loader)
    batches = iter(loader)
    deadline = time.monotonic() + 120
    while len(up(fleet)) < 2:
        assert time.monotonic() < deadline, fleet.status()
        for _ in range(5):  # It takes a batch as soon as there is one, so that it waits nearly all the time.
            next(batches)
    loader.close()


def test_what_cannot_be_served_is_said_with_its_reason(cluster, photos, tmp_path):
    with pytest.raises(stoker.UnavailableError, match="there is no program nowhere on this node"):
        stoker.ray.serve(photos, **SERVE, stokerd="nowhere", nodes=1)
    with pytest.raises(stoker.UnavailableError, match="stokerd: dataset nothing: .*No such file or directory"):
        stoker.ray.serve(tmp_path / "nothing", **SERVE, nodes=1)
    with pytest.raises(stoker.UnavailableError, match="no node of the Ray cluster fits: .*'gold': 1"):
        stoker.ray.serve(photos, **SERVE, resources={"gold": 1})
    with pytest.raises(stoker.InvalidArgumentError, match="cpus: Ray reserves whole numbers"):
        stoker.ray.serve(photos, **SERVE, cpus=1.5)
    with pytest.raises(stoker.UnavailableError, match="no node of the Ray cluster fits: .* 99 CPUs, no GPU"):
        stoker.ray.serve(photos, **SERVE, nodes=1, cpus=99)


def test_a_server_that_must_wait_for_cpus_says_so(serve, photos):
    fleet = serve()  # It holds all CPUs.
    with pytest.raises(stoker.UnavailableError, match="Ray has not started its actor yet, which reserves 2 CPU"):
        stoker.ray.serve(photos, **SERVE, nodes=1, timeout=0.5)
    assert len(up(fleet)) == 3


def test_where_there_are_too_few_nodes_it_says_so_and_serves(serve, cluster, digests):
    nodes = len(cluster.worker_nodes)
    with pytest.warns(stoker.StokerWarning, match=f"{nodes} of {nodes + 2} servers are up: no further node fits"):
        fleet = serve(nodes=nodes + 2, cpus=0, ports=range(20000, 60000))
    assert all(int(address.rpartition(":")[2]) in range(20000, 60000) for address in fleet.servers.addresses())
    with loader_of(fleet.servers) as loader:
        assert loader.digest(0) == digests[0]
    assert repr(fleet).startswith(f"stoker.ray.Fleet({nodes} of {nodes + 2} servers up: ")
    fleet.stop()
    assert repr(fleet) == "stoker.ray.Fleet(stopped)"


def of_the_page(language):
    """The block in that language of docs/deploy/ray.md."""
    text = (ROOT / "docs/deploy/ray.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return block


def printed(cluster, folder, *command):
    """What a program prints that joins the cluster in a folder that has the photographs."""
    environment = {**os.environ, "RAY_ADDRESS": cluster.address}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_the_page_shows_works(cluster, photos):
    told = printed(cluster, photos.parent, sys.executable, "-c", of_the_page("python"))
    assert "stoker.ray.Fleet(3 of 3 servers up: " in told and "192 samples" in told


def test_the_example_of_the_page_trains(cluster, photos, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "photos").symlink_to(photos)
    program, example, *arguments = shlex.split(of_the_page("sh"))
    assert program == "python"
    told = printed(cluster, tmp_path, sys.executable, str(ROOT / "examples" / example), *arguments)
    losses = [float(loss) for loss in re.findall(r"epoch \d+: loss ([\d.]+)$", told, re.MULTILINE)]
    assert len(losses) == 8 and losses[-1] < losses[0] * 0.8, told
