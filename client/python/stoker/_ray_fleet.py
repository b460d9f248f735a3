"""The actor that keeps a fleet of servers on a Ray cluster: it places them, replaces what died, and scales them."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

from . import _ray_plan as plan
from ._ray_server import Server, Spec, Told

_log = logging.getLogger("stoker")

_LOOK_EVERY = 1.0  # Seconds between two looks at the cluster's nodes.
_ASK = 10.0  # The longest that members() waits for news, in seconds.
_LONGEST_PAUSE = 30.0  # Seconds until a node is tried again on which an actor died.
_FORGOTTEN = 30.0  # Seconds after which what a loader reported counts no more.


@dataclass(frozen=True)
class Placement:
    """Which nodes have servers, how many, and what Ray reserves for each. A value."""

    nodes: Optional[int]  # None: each that fits.
    autoscale: Optional[plan.Autoscale]
    cpus: Optional[float]  # None: all that the node has.
    resources: dict[str, float]  # As fitting_nodes() takes them.
    labels: dict[str, str]


@dataclass
class _Placed:
    """A server's actor, as the controller knows it."""

    node: str
    host: str
    cpus: float
    actor: Any
    told: Told = field(default_factory=lambda: Told(0, "placed", None, "", 0, 0, None))
    leaving: bool = False


@dataclass
class _Lost:
    """A node on which a server's actor died, again and again perhaps, and none was up since."""

    host: str
    why: str
    times: int
    until: float  # Until then it gets no other.


@dataclass
class _Report:
    """What a loader waited in all, as it was told last and as it was at the last decision."""

    waited: float
    at: float
    waited_before: float
    at_before: float


class Controller:
    """An asynchronous actor. All of it runs in one event loop."""

    async def __init__(self, spec: Spec, placement: Placement) -> None:  # type: ignore[misc]  # Ray awaits it.
        import ray

        self._ray = ray
        self._spec = spec
        self._placement = placement
        rule = placement.autoscale
        self._scaler = plan.Scaler(rule) if rule else None
        self._target = rule.min if rule else placement.nodes
        self._servers: list[_Placed] = []  # Oldest first.
        self._nodes: list[Mapping[str, Any]] = []  # Those that fit, as they were seen last.
        self._lost: dict[str, _Lost] = {}  # By nodes' ids.
        self._reports: dict[str, _Report] = {}
        self._meter = plan.Meter()
        self._addresses: list[str] = []
        self._problem = ""  # Why the last look at the cluster came to nothing.
        self._incarnation, self._version = uuid.uuid4().hex, 0
        self._ending = False
        self._news = asyncio.Condition()
        self._tasks = {asyncio.ensure_future(self._keep())}
        if self._scaler:
            self._tasks.add(asyncio.ensure_future(self._scale_by_waits()))

    # ---- What processes ask ----

    async def members(self, known: str) -> tuple[str, list[str]]:
        """The addresses and their version: at once where that is not `known` and there are some, else after 10 s."""
        async with self._news:
            try:
                await asyncio.wait_for(self._news.wait_for(lambda: self._told_of(known)), _ASK)
            except asyncio.TimeoutError:
                pass
            return "ended" if self._ending else self._version_name(), list(self._addresses)

    def _told_of(self, known: str) -> bool:
        return self._ending or (known != self._version_name() and bool(self._addresses))

    def _version_name(self) -> str:
        return f"{self._incarnation}-{self._version}"

    def _wanted(self) -> int:
        return len(self._nodes) if self._target is None else self._target

    async def status(self) -> tuple[int, list[dict[str, Any]], str]:
        """How many servers there should be, how each fares, and what keeps the fleet from being kept.

        Nodes that lost their servers are told as long as these are missing.
        """
        wanted = self._wanted()
        missing = wanted > sum(not server.leaving for server in self._servers)
        servers = [
            {
                "node": server.node,
                "host": server.host,
                "address": server.told.address,
                "state": "draining" if server.leaving else server.told.state,
                "problem": server.told.problem or self._why_not_placed(server),
                "restarts": server.told.restarts,
                "failed_starts": server.told.failed_starts,
                "pid": server.told.pid,
            }
            for server in self._servers
        ] + [
            {
                "node": node,
                "host": lost.host,
                "address": None,
                "state": "lost",
                "problem": lost.why,
                "restarts": 0,
                "failed_starts": lost.times,
                "pid": None,
            }
            for node, lost in self._lost.items()
            if missing and not any(server.node == node for server in self._servers)
        ]
        return wanted, servers, self._problem

    def _why_not_placed(self, server: _Placed) -> str:
        if server.told.state != "placed":
            return ""
        reserved = ", ".join(f"{amount:g} {name}" for name, amount in self._reserved(server.cpus).items())
        return f"Ray has not started its actor yet, which reserves {reserved or 'nothing'}"

    async def scale(self, wanted: Optional[int]) -> None:
        self._target = wanted
        await self._place()

    async def report(self, key: str, waited: float) -> None:
        """A loader waited so many seconds in all."""
        now = time.monotonic()
        before = self._reports.get(key)
        base = (before.waited_before, before.at_before) if before else (waited, now)
        self._reports[key] = _Report(waited, now, *base)

    async def stop(self) -> None:
        """Ends all servers, when they have finished what they owe."""
        async with self._news:
            self._ending = True
            self._news.notify_all()
        await asyncio.gather(*(self._let_go(server) for server in self._servers))

    # ---- Placing ----

    async def _keep(self) -> None:
        while not self._ending:
            try:
                await self._look()
                await self._place()
                self._problem = ""
            except Exception as error:  # The fleet must go on being kept.
                self._problem = f"{type(error).__name__}: {error}"
                _log.warning("stoker.ray: %s; trying again", self._problem)
            await asyncio.sleep(_LOOK_EVERY)

    async def _look(self) -> None:
        """Sees which nodes there are, and forgets servers of those that died."""
        known = await asyncio.get_running_loop().run_in_executor(None, self._ray.nodes)
        self._nodes = plan.fitting_nodes(known, self._placement.cpus, self._placement.resources, self._placement.labels)
        alive = {node["NodeID"] for node in known if node["Alive"]}
        self._lost = {node: lost for node, lost in self._lost.items() if node in alive}
        for server in [server for server in self._servers if server.node not in alive]:
            await self._lose(server, "its node is dead")

    async def _place(self) -> None:
        if self._ending:
            return
        now = time.monotonic()
        draining = {server.node for server in self._servers if server.leaving}
        nodes = {
            node["NodeID"]: node
            for node in self._nodes
            if node["NodeID"] not in draining and not self._is_paused(node["NodeID"], now)
        }
        staying = [server for server in self._servers if not server.leaving]
        running = sorted(staying, key=lambda server: server.told.address is None)  # Those that work stay.
        start, stop = plan.placed(nodes, [server.node for server in running], self._target)
        for server in [server for server in staying if server.node in stop]:
            self._spawn(self._let_go(server))
        for node in start:
            self._start(nodes[node])

    def _is_paused(self, node: str, now: float) -> bool:
        return node in self._lost and now < self._lost[node].until

    def _start(self, node: Mapping[str, Any]) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        given = self._placement.cpus
        cpus = float(node["Resources"]["CPU"]) if given is None else given
        reserved = self._reserved(cpus)
        actor = (
            self._ray.remote(Server)
            .options(
                num_cpus=reserved.pop("CPU", 0),
                num_gpus=reserved.pop("GPU", 0),
                memory=reserved.pop("memory", 0),
                resources=reserved,
                max_concurrency=8,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
            )
            .remote(self._spec, node["NodeManagerAddress"])
        )
        server = _Placed(node["NodeID"], node["NodeManagerAddress"], cpus, actor)
        self._servers.append(server)
        self._spawn(self._watch(server))

    def _reserved(self, cpus: float) -> dict[str, float]:
        return {**({"CPU": cpus} if cpus else {}), **self._placement.resources}

    async def _watch(self, server: _Placed) -> None:
        """Follows how a server fares, until it ends or is lost."""
        while server in self._servers and server.told.state != "ended":
            try:
                server.told = await server.actor.status.remote(server.told.version)
                await self._publish()
            except self._unavailable() as error:
                _log.warning("stoker.ray: no answer from the actor on %s: %s", server.host, error)
                await asyncio.sleep(1)
            except self._ray.exceptions.RayError as error:
                if not server.leaving:
                    await self._lose(server, plan.first_and_last_line(str(error)))
                return
            if server.told.state == "up":
                self._lost.pop(server.node, None)

    def _unavailable(self) -> Any:
        return getattr(self._ray.exceptions, "ActorUnavailableError", ())

    async def _lose(self, server: _Placed, why: str) -> None:
        if server not in self._servers:
            return
        _log.warning("stoker.ray: lost the server on %s: %s", server.host, why)
        times = self._lost[server.node].times + 1 if server.node in self._lost else 1
        pause = min(0.5 * 2**times, _LONGEST_PAUSE)
        self._lost[server.node] = _Lost(server.host, why, times, time.monotonic() + pause)
        self._servers.remove(server)
        self._kill(server)
        await self._publish()
        await self._place()

    async def _let_go(self, server: _Placed) -> None:
        """Takes a server out of the list, and ends it when it has finished what it owes."""
        server.leaving = True
        await self._publish()
        if server.told.state != "placed":
            try:
                await asyncio.wait_for(server.actor.drain.remote(), self._spec.drain_seconds + 10)
            except Exception as error:
                _log.warning("stoker.ray: the server on %s did not drain: %s", server.host, error)
        self._kill(server)
        if server in self._servers:
            self._servers.remove(server)

    def _kill(self, server: _Placed) -> None:
        try:
            self._ray.kill(server.actor)
        except Exception as error:
            _log.warning("stoker.ray: the actor on %s cannot be ended: %s", server.host, error)

    async def _publish(self) -> None:
        """Tells those who wait what the addresses are, where they changed. One that is down comes back, and stays."""
        told = [server.told.address for server in self._servers if not server.leaving]
        addresses = sorted(address for address in told if address)
        async with self._news:
            if addresses != self._addresses:
                self._addresses = addresses
                self._version += 1
                self._news.notify_all()

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # ---- Scaling ----

    async def _scale_by_waits(self) -> None:
        rule, scaler = self._placement.autoscale, self._scaler
        assert rule and scaler
        while not self._ending:
            await asyncio.sleep(rule.period)
            try:
                waited, busy = await self._measure(rule)
                up = sum(server.told.state == "up" and not server.leaving for server in self._servers)
                wanted = self._wanted()
                target = scaler.decide(wanted, up, len(self._nodes), waited, busy, time.monotonic())
                if target != wanted:
                    known = "unknown" if waited is None else f"{100 * waited:.1f} %"
                    _log.warning("stoker.ray: trainers wait %s of the time: %d servers → %d", known, wanted, target)
                    await self.scale(target)
            except Exception as error:
                _log.warning("stoker.ray: waits cannot be told: %s: %s", type(error).__name__, error)

    async def _measure(self, rule: plan.Autoscale) -> tuple[Optional[float], Optional[float]]:
        """The share of time that trainers waited since the last measurement, and that servers' threads worked."""
        servers = [server for server in self._servers if server.told.state == "up"]
        asked = [asyncio.wait_for(server.actor.figures.remote(), 10) for server in servers]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        pairs = zip(servers, answers)
        figures = {server.node: told for server, told in pairs if isinstance(told, dict)}
        waits, busy = self._meter.measure(figures, time.monotonic())
        if rule.wait is not None:
            return await asyncio.get_running_loop().run_in_executor(None, rule.wait), busy
        reported = self._from_reports(time.monotonic())
        return (waits if reported is None else reported), busy

    def _from_reports(self, now: float) -> Optional[float]:
        """The mean over loaders since it was asked last; None where none has told anything since."""
        self._reports = {key: report for key, report in self._reports.items() if now - report.at < _FORGOTTEN}
        told = [report for report in self._reports.values() if report.at > report.at_before]
        shares = [(report.waited - report.waited_before) / (report.at - report.at_before) for report in told]
        for report in told:
            report.waited_before, report.at_before = report.waited, report.at
        return min(1.0, sum(shares) / len(shares)) if shares else None
