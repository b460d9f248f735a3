"""Servers on a Ray cluster: one stokerd a CPU node, for as long as the job lives.

    import ray, stoker, stoker.ray

    ray.init()
    with stoker.ray.serve(["/data/imagenet/train"], insecure=True) as fleet:
        loader = stoker.Loader(fleet.servers, batch_size=256)
        for images, labels in loader:
            train(images, labels)

``fleet.servers`` may be passed to tasks, actors and trainers, and follows the fleet's membership there. The nodes need
this package and the program stokerd. Importing this module does not import Ray.
"""

from __future__ import annotations

import math
import os
import time
import uuid
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from ._ray_members import Servers, end_following
from ._ray_plan import Autoscale
from ._ray_server import Spec, as_yaml
from .errors import InvalidArgumentError, StokerWarning, UnavailableError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Autoscale", "Fleet", "ServerStatus", "Servers", "serve"]

_POLL = 0.2  # Seconds between two looks at how servers start.
_PLACED_WITHIN = 60.0  # Seconds that the actor that keeps a fleet may take to start, before `timeout` begins.
_FAILED = 3  # Attempts to start a server until serve() no longer waits for it.


@dataclass(frozen=True)
class ServerStatus:
    """How one server of a fleet fares."""

    node: str  #: Ray's id of its node.
    host: str  #: The node's address.
    address: Optional[str]  #: Where it listens, or did before it went down.
    state: str  #: placed (Ray is to start its actor), starting, up, down (it is started again), draining or lost.
    problem: str  #: Why it is not up, or why it was not.
    restarts: int  #: How often it died and was started again.
    failed_starts: int  #: How many attempts in a row ended before it listened.
    pid: Optional[int]  #: Its process.


def serve(
    datasets: Union[None, str, os.PathLike[str], Iterable[Any]] = None,
    *,
    config: Union[None, str, os.PathLike[str], Mapping[str, Any]] = None,
    nodes: Optional[int] = None,
    autoscale: Optional[Autoscale] = None,
    cpus: Optional[float] = None,
    resources: Optional[Mapping[str, float]] = None,
    labels: Optional[Mapping[str, str]] = None,
    stokerd: Union[str, os.PathLike[str]] = "stokerd",
    arguments: Sequence[str] = (),
    environment: Optional[Mapping[str, str]] = None,
    ports: Optional[Iterable[int]] = None,
    insecure: bool = False,
    tls_cert_file: Optional[str] = None,
    tls_key_file: Optional[str] = None,
    unhealthy_seconds: float = 30.0,
    drain_seconds: float = 40.0,
    timeout: float = 600.0,
) -> Fleet:
    """Starts one stokerd on each CPU node of the Ray cluster, and keeps them running until the job ends.

    Each is run by an actor, which starts it again on the same port when it dies. A node that is lost is replaced by
    another one that fits and has none, as soon as there is one. The servers end with the fleet, with the driver that
    called this, however that ends, and with Ray.

    Arguments:
        datasets: what to serve, by paths or URLs as the nodes see them: one, or a list. An element may also be a dict,
            as it stands below ``datasets`` in a configuration: ``{"name": "photos", "image_folder": {"path": "…"}}``.
        config: instead, a whole configuration of stokerd: a dict, or the path of a YAML file, which is read here and
            sent to the nodes. The fleet sets ``listen`` and the address of ``admin`` itself. With a token for ``admin``
            it cannot scale by what the servers tell.
        nodes: how many servers. None: one on each node that fits, also on those that join later.
        autoscale: lets the number follow what trainers wait, instead of ``nodes``.
        cpus: CPUs that Ray reserves for each server, and the threads that it works with. None: all of the node's. 0
            reserves nothing: the server still works with all of them, beside whatever else runs there.
        resources: Ray resources that a node must have, such as ``{"stoker": 1}`` or ``{"GPU": 1}``. Each server takes
            them.
        labels: labels that a node must have. Without ``resources`` and ``labels`` nodes with CPUs and no GPU fit.
        stokerd: the program on the nodes: a path, or a name that is looked up in their PATH.
        arguments: further flags of ``stokerd serve``, such as ``["--memory-limit", "16GiB"]``.
        environment: further variables of its environment, such as credentials of an object store.
        ports: ports of which each server takes the first that is free on its node, such as ``range(7077, 7087)``.
            Default: any.
        insecure: allows plaintext on addresses that other machines reach. Whoever reaches them can read the datasets.
        tls_cert_file, tls_key_file: the servers' certificate and key in PEM, as files on the nodes. Loaders are given
            ``tls_ca_file``; and ``tls_server_name``, where the certificate has a name in place of the nodes' addresses.
        unhealthy_seconds: a server that answers nothing for so long is killed and started again.
        drain_seconds: how long a server that is to end may take for what it owes to clients. It cuts streams off ten
            seconds before; where ``config`` says ``drain_seconds``, then.
        timeout: seconds in which a first server must be up. The first start on a large folder indexes it. Servers that
            Ray has not begun to start a minute later are not waited for.

    Returns when all servers are up that there should be, and warns (StokerWarning) of those that cannot be. Raises
    UnavailableError where none can, with each node's reason, and InvalidArgumentError for arguments that do not fit.
    """
    ray = _ray()
    spec = Spec(
        stokerd=os.fspath(stokerd),
        config=_config_text(datasets, config, max(1, int(drain_seconds) - 10)),
        arguments=(*_security(insecure, tls_cert_file, tls_key_file), *_threads(cpus), *map(str, arguments)),
        environment=dict(environment or {}),
        ports=tuple(ports or ()),
        unhealthy_seconds=unhealthy_seconds,
        drain_seconds=drain_seconds,
    )
    if nodes is not None and autoscale is not None:
        raise InvalidArgumentError("nodes: the number of servers is fixed by nodes= or follows autoscale=, not both")
    if nodes is not None and nodes < 1:
        raise InvalidArgumentError(f"nodes: {nodes} is less than 1")
    from . import _ray_fleet, _ray_plan

    try:
        _ray_plan.check_reserved(cpus, resources or {})
    except ValueError as error:
        raise InvalidArgumentError(str(error)) from None
    if not ray.is_initialized():
        ray.init()
    placement = _ray_fleet.Placement(nodes, autoscale, cpus, dict(resources or {}), dict(labels or {}))
    fitting = _ray_plan.fitting_nodes(ray.nodes(), cpus, placement.resources, placement.labels)
    if not fitting:
        others = f"resources {placement.resources} and labels {placement.labels}"
        others = others if resources or labels else "no GPU; resources= or labels= choose others"
        needed = f"{cpus:g} CPUs" if cpus else "CPUs"
        raise UnavailableError(f"no node of the Ray cluster fits: it must be alive and have {needed}, {others}")
    if not (insecure or tls_cert_file or config is not None):
        _refuse_open_addresses([node["NodeManagerAddress"] for node in fitting])
    controller = (
        ray.remote(_ray_fleet.Controller)
        .options(
            num_cpus=0,
            max_restarts=-1,
            max_task_retries=-1,
            max_concurrency=100_000,  # Each process that follows the fleet waits in one call.
            scheduling_strategy=_on_this_node(ray),
        )
        .remote(spec, placement)
    )
    fleet = Fleet(controller)
    try:
        fleet._wait_until_up(timeout)
    except BaseException:
        fleet.stop()
        raise
    return fleet


class Fleet:
    """Servers that ``serve`` started. At the end of a ``with`` they stop, else by ``stop()`` or with the driver."""

    def __init__(self, controller: Any) -> None:
        self._controller = controller
        self._key = uuid.uuid4().hex
        self._servers = Servers(self._key, controller)
        self._stopped = False

    @property
    def servers(self) -> Servers:
        """What ``stoker.Loader`` takes as ``servers``, in this process and in those that it is passed to."""
        return self._servers

    def status(self) -> list[ServerStatus]:
        """How each server fares."""
        return self._status()[1]

    def _status(self) -> tuple[int, list[ServerStatus], str]:
        wanted, told, problem = _ray().get(self._controller.status.remote())
        return wanted, [ServerStatus(**one) for one in told], problem

    def scale(self, nodes: Optional[int]) -> None:
        """Changes how many servers there are. None: one on each node that fits.

        New ones start meanwhile. Those that are too many leave the list at once, and end when they have finished what
        they owe. With ``autoscale`` the number changes again as trainers wait.
        """
        if nodes is not None and nodes < 1:
            raise InvalidArgumentError(f"nodes: {nodes} is less than 1")
        _ray().get(self._controller.scale.remote(nodes))

    def stop(self) -> None:
        """Ends the servers, when they have finished what they owe. The addresses stay in what loaders were given."""
        if self._stopped:
            return
        self._stopped = True
        ray = _ray()
        if not ray.is_initialized():
            return
        try:
            ray.get(self._controller.stop.remote())
        finally:
            end_following(self._key)
            ray.kill(self._controller)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        if self._stopped:
            return "stoker.ray.Fleet(stopped)"
        wanted, servers, _ = self._status()
        up = [server.address for server in servers if server.state == "up"]
        return f"stoker.ray.Fleet({len(up)} of {wanted} servers up: {', '.join(map(str, up))})"

    def _wait_until_up(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout + _PLACED_WITHIN
        placed, first_up = False, math.inf
        while True:
            wanted, servers, problem = self._status()
            now = time.monotonic()
            if servers and not placed:
                placed, deadline = True, now + timeout
            up = [server for server in servers if server.state == "up"]
            first_up = min(first_up, now if up else math.inf)
            others = [server for server in servers if server.state != "up"]
            awaited = [one for one in others if one.failed_starts < _FAILED]
            if now > first_up + _PLACED_WITHIN:
                awaited = [one for one in awaited if one.state != "placed"]
            if now > deadline or (servers and (len(up) >= wanted or not awaited)):
                break
            time.sleep(_POLL)
        missing = [f"{one.host}: {one.problem or one.state}" for one in others]
        if not servers:
            missing = [problem or "the actor that keeps the fleet placed none"]
        if not up:
            raise UnavailableError(f"no server could be started: {'; '.join(missing)}")
        if len(servers) < wanted:
            missing.append("no further node fits")
        if missing:
            warnings.warn(f"{len(up)} of {wanted} servers are up: {'; '.join(missing)}", StokerWarning, stacklevel=3)


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise ImportError("stoker.ray needs Ray: pip install ray") from None
    return ray


def _on_this_node(ray: Any) -> Any:
    """Keeps an actor on the driver's own node, with which the job ends anyway."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)


def _config_text(datasets: Any, config: Any, drain_seconds: int) -> str:
    if (datasets is None) == (config is None):
        raise InvalidArgumentError("datasets: say what to serve, by datasets= or by config=, and not by both")
    if datasets is not None:
        several = [datasets] if isinstance(datasets, (str, os.PathLike, Mapping)) else list(datasets)
        if not several:
            raise InvalidArgumentError("datasets: there is none to serve")
        served = [dict(one) if isinstance(one, Mapping) else {"data": _on_nodes(one)} for one in several]
        return as_yaml({"datasets": served, "drain_seconds": drain_seconds})
    if not isinstance(config, Mapping):
        return Path(config).read_text(encoding="utf-8")
    for key in ("listen", "admin"):
        if key in config:
            raise InvalidArgumentError(f"config: the fleet sets {key} itself; leave it out")
    return as_yaml({"drain_seconds": drain_seconds, **config})


def _on_nodes(path: Union[str, os.PathLike[str]]) -> str:
    """A path as nodes can use it, which have no folder that they are in; or a URL as it is."""
    text = os.fspath(path)
    return text if "://" in text else os.path.abspath(text)


def _security(insecure: bool, certificate: Optional[str], key: Optional[str]) -> list[str]:
    if (certificate is None) != (key is None):
        raise InvalidArgumentError("tls_cert_file: a certificate and its key, tls_key_file, come together")
    if certificate is not None and key is not None:
        return ["--tls-cert", certificate, "--tls-key", key]
    return ["--insecure"] if insecure else []


def _threads(cpus: Optional[float]) -> list[str]:
    return ["--workers", str(max(1, int(cpus)))] if cpus else []


def _refuse_open_addresses(hosts: Sequence[str]) -> None:
    reached = sorted({host for host in hosts if not (host.startswith("127.") or host == "::1")})
    if reached:
        raise InvalidArgumentError(
            f"insecure: other machines reach {', '.join(reached[:3])}; give the servers a certificate (tls_cert_file=, "
            "tls_key_file=), or, on a network that you trust, say so: insecure=True"
        )
