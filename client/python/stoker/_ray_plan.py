"""Where servers should run on a Ray cluster, and how many of them. Pure: it asks nobody and has no clock."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Callable, Optional


@dataclass(frozen=True)
class Autoscale:
    """How a fleet follows what its trainers wait.

    Where they spend more than ``up_wait`` of their time waiting for batches, two periods in a row, there are soon as
    many servers as would have sufficed, at most twice as many as before. Where they wait less than ``down_wait`` for
    ``patience`` seconds, and the servers are so idle that one fewer would be less than 80 % busy, one goes.

    Arguments:
        min: servers that there are at least, as far as there are nodes.
        max: servers that there are at most. None: as many as there are nodes.
        up_wait: the share of trainers' time, from 0 to 1.
        down_wait: likewise.
        period: seconds between two decisions. Clients tell their servers once a second what they waited.
        patience: seconds until one is taken away, and between two that are.
        wait: is called once a period, in the actor that keeps the fleet, and gives the share of time that trainers wait
            now, or None where it does not know. Default: what loaders report that ``servers.watch`` was given, else
            what clients report to the servers.
    """

    min: int = 1
    max: Optional[int] = None
    up_wait: float = 0.05
    down_wait: float = 0.01
    period: float = 15.0
    patience: float = 300.0
    wait: Optional[Callable[[], Optional[float]]] = None

    def __post_init__(self) -> None:
        if self.min < 1:
            raise ValueError(f"autoscale: min={self.min} is less than 1")
        if self.max is not None and self.max < self.min:
            raise ValueError(f"autoscale: max={self.max} is less than min={self.min}")
        if not 0 <= self.down_wait < self.up_wait < 1:
            raise ValueError("autoscale: 0 ≤ down_wait < up_wait < 1 must hold")
        if self.period <= 0:
            raise ValueError(f"autoscale: period={self.period} is not above 0")


class Scaler:
    """Decides how many servers there should be. Single owner."""

    _BUSY_ENOUGH = 0.8  # Servers that are busier are not made fewer.

    def __init__(self, rule: Autoscale) -> None:
        self._rule = rule
        self._long_waits = 0  # Decisions in a row that found waits too long.
        self._idle_since: Optional[float] = None

    def decide(self, target: int, up: int, nodes: int, wait: Optional[float], busy: Optional[float], now: float) -> int:
        """How many servers there should be, at the time `now`.

        So far there should be `target`, and `up` of them are; `nodes` may have one. `wait` is the share of time that
        trainers waited since the last decision, and `busy` the share that servers' threads worked; None where that is
        not known.
        """
        rule = self._rule
        most = nodes if rule.max is None else min(nodes, rule.max)
        target = max(rule.min, min(target, most))
        self._long_waits = self._long_waits + 1 if wait is not None and wait > rule.up_wait else 0
        if wait is None or wait >= rule.down_wait:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        if self._long_waits >= 2 and wait is not None:
            self._long_waits = 0
            # Trainers took in 1 − wait of the time what these servers made: without waiting they would take more.
            return max(target, min(math.ceil(up / max(1 - wait, 0.5)), most))
        if self._may_be_fewer(up, busy, now) and up >= target:
            self._idle_since = now
            return max(rule.min, target - 1)
        return target

    def _may_be_fewer(self, up: int, busy: Optional[float], now: float) -> bool:
        if self._idle_since is None or now - self._idle_since < self._rule.patience or busy is None or up < 2:
            return False
        return busy * up / (up - 1) < self._BUSY_ENOUGH


class Meter:
    """What servers' figures grew by since they were read last. Single owner."""

    def __init__(self) -> None:
        self._before: dict[str, Mapping[str, float]] = {}
        self._at = 0.0

    def measure(
        self, figures: Mapping[str, Mapping[str, float]], now: float
    ) -> tuple[Optional[float], Optional[float]]:
        """The shares of time, since it was asked last, that clients waited and that servers' threads worked.

        `figures` are sums of /metrics by server. A server counts if it was there the last time too. None: not known.
        """
        seconds, before = now - self._at, self._before
        self._at, self._before = now, dict(figures)
        both = [(before[server], told) for server, told in figures.items() if server in before]
        threads = sum(told.get("stoker_workers", 0.0) for _, told in both)
        clients = max((told.get("stoker_streams_active", 0.0) for _, told in both), default=0.0)
        waited = _growth(both, "stoker_client_wait_seconds_total")
        worked = _growth(both, "stoker_worker_busy_seconds_total")
        return (
            min(1.0, waited / (seconds * clients)) if waited is not None and clients else None,
            min(1.0, worked / (seconds * threads)) if worked is not None and threads else None,
        )


def _growth(both: Iterable[tuple[Mapping[str, float], Mapping[str, float]]], name: str) -> Optional[float]:
    """By how much a counter grew, over all servers that have it; None where none has. What began anew counts from 0."""
    grown = [
        new[name] - (old[name] if old[name] <= new[name] else 0.0) for old, new in both if name in old and name in new
    ]
    return sum(grown) if grown else None


def fitting_nodes(
    nodes: Iterable[Mapping[str, Any]],
    cpus: Optional[float],
    resources: Mapping[str, float],
    labels: Mapping[str, str],
) -> list[Mapping[str, Any]]:
    """The nodes of ray.nodes() that servers may run on: those that are alive and have these CPUs, resources and labels.

    They are sorted. None stands for any CPUs. Where neither resources nor labels are given nodes with GPUs do not fit.
    """
    found = []
    for node in nodes:
        has = node["Resources"]
        if not node["Alive"] or has.get("CPU", 0) <= 0 or has["CPU"] < (cpus or 0):
            continue
        if has.get("GPU", 0) > 0 and not resources and not labels:
            continue
        if any(has.get(name, 0) < amount for name, amount in resources.items()):
            continue
        if all(node.get("Labels", {}).get(name) == value for name, value in labels.items()):
            found.append(node)
    return sorted(found, key=lambda node: str(node["NodeID"]))


def check_reserved(cpus: Optional[float], resources: Mapping[str, float]) -> None:
    """ValueError for amounts that Ray does not reserve: more than one of something must be a whole number."""
    if "CPU" in resources:
        raise ValueError("resources: CPUs are said by cpus=")
    for name, amount in {"cpus": cpus or 0, **resources}.items():
        if amount < 0 or (amount > 1 and amount != int(amount)):
            raise ValueError(f"{name}: Ray reserves whole numbers, or parts of one, not {amount:g}")


def first_and_last_line(text: str) -> str:
    """What an actor's error says of it, and what of its cause, which Ray writes below a traceback."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "; ".join(dict.fromkeys([lines[0], lines[-1]])) if lines else "no reason is told"


def placed(fitting: Iterable[str], running: Iterable[str], wanted: Optional[int]) -> tuple[list[str], list[str]]:
    """The nodes on which servers are to be started, and those whose servers are to end.

    `fitting` are the nodes that may have a server, best first, and `running` those that have one, oldest first.
    `wanted` is how many there should be; None: one on each that fits.
    """
    fitting, running = list(fitting), list(running)
    if wanted is None:
        return [node for node in fitting if node not in running], []
    free = [node for node in fitting if node not in running]
    return free[: max(0, wanted - len(running))], running[wanted:]
