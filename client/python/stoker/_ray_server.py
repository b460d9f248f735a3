"""The actor that keeps one stokerd running on its node of a Ray cluster. Nothing here imports Ray.

One thread starts the process, watches it and starts it again; the actor's methods run on others. It is the thread that
lives as long as the actor, for the kernel kills a stokerd when the thread that started it ends (PR_SET_PDEATHSIG). So
no stokerd outlives its actor, however that ends.
"""

from __future__ import annotations

import collections
import contextlib
import http.client
import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import IO, Any, Optional

_log = logging.getLogger("stoker")

# Runs the program argv[2:] so that it dies with the process argv[1], which is its parent.
_TIED = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() != int(sys.argv[1]): sys.exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""

_LONGEST_PAUSE = 10.0  # Seconds between two attempts to start it.
_SETTLED = 30.0  # Seconds after which a stokerd counts as one that works: the next restart is without a pause.
_POLL = 0.1  # Seconds between two looks at the process.
_HEALTH_EVERY = 1.0  # Seconds between two questions for its health.
_ASK = 10.0  # The longest that status() waits for news, in seconds.
_DIES_WITHIN = 30.0  # Seconds after a SIGKILL.


@dataclass(frozen=True)
class Spec:
    """How stokerd is run on every node. A value."""

    stokerd: str  # A path, or a name that is looked up in PATH there.
    config: Optional[str]  # The text of a configuration.
    arguments: tuple[str, ...]  # Further flags.
    environment: dict[str, str]
    ports: tuple[int, ...]  # The first free one is taken; none given: any.
    unhealthy_seconds: float  # It is killed and started again when it gave no sign of life for so long.
    drain_seconds: float  # How long it may take to finish what clients are owed.


@dataclass(frozen=True)
class Told:
    """How a server fares. A value."""

    version: int
    state: str  # starting, up, down, draining or ended.
    address: Optional[str]  # Where it listens, or did before it went down.
    problem: str  # Why it is not up.
    restarts: int  # How often it was started again.
    failed_starts: int  # How many attempts in a row ended before it listened.
    pid: Optional[int]


class Server:
    """Runs stokerd on `host`, an address of this node. Thread-safe. It ends with drain(), or with its process."""

    def __init__(self, spec: Spec, host: str) -> None:
        self._spec = spec
        self._host = host
        self._news = threading.Condition()
        # Guarded by _news:
        self._told = Told(1, "starting", None, "", 0, 0, None)
        self._process: Optional[subprocess.Popen[str]] = None
        self._ending = False
        # The keeper's alone:
        self._port = 0
        self._admin: Optional[str] = None  # Set by the keeper; figures() reads it.
        self._is_refused = False  # What figures() asked last.
        self._last_lines: collections.deque[str] = collections.deque(maxlen=20)
        self._keeper = threading.Thread(target=self._keep, name="stokerd's keeper", daemon=True)
        self._keeper.start()

    # ---- What the fleet asks ----

    def status(self, known: int = 0) -> Told:
        """How it fares, at once where that is not the version `known`, otherwise after at most ten seconds."""
        with self._news:
            self._news.wait_for(lambda: self._told.version != known, _ASK)
            return self._told

    def figures(self) -> Optional[dict[str, float]]:
        """The sums over all labels of stokerd's /metrics by their names; None where it does not tell them now."""
        admin = self._admin
        if admin is None:
            return None
        try:
            status, text = _get(admin, "/metrics")
        except OSError:
            return None
        if status != 200:
            if not self._is_refused:
                _log.warning("stoker.ray: stokerd answers %d to /metrics: the fleet cannot scale by what it tells", status)
            self._is_refused = True
            return None
        sums: dict[str, float] = collections.defaultdict(float)
        for name, value in re.findall(r"^(stoker_[a-z_]+)(?:\{.*\})? (\S+)$", text, re.MULTILINE):
            sums[name] += float(value)
        return dict(sums)

    def drain(self) -> None:
        """Lets it finish what clients are owed, and ends it. Returns when it has ended."""
        with self._news:
            self._ending = True
            self._tell(state="draining")
            if self._process is not None:
                self._process.terminate()
        self._keeper.join(self._spec.drain_seconds)
        with self._news:
            if self._process is not None:
                self._process.kill()
        self._keeper.join()

    # ---- The keeper ----

    def _keep(self) -> None:
        pause = 0.0
        while not self._ending:
            began = time.monotonic()
            try:
                self._run_once()
            except Exception as error:  # The keeper must live: what is wrong is told, and tried again.
                self._failed(f"{type(error).__name__}: {error}")
            pause = 0.0 if time.monotonic() - began > _SETTLED else min(max(2 * pause, 0.2), _LONGEST_PAUSE)
            with self._news:
                self._news.wait_for(lambda: self._ending, pause)
        with self._news:
            self._tell(state="ended", pid=None)

    def _run_once(self) -> None:
        """Starts stokerd, and returns when it has ended."""
        program = shutil.which(self._spec.stokerd)
        if program is None:
            self._failed(f"there is no program {self._spec.stokerd} on this node; say stokerd='/path/to/stokerd'")
            return
        process = self._start(program)
        if process is None:
            return
        log = threading.Thread(target=self._copy_log, args=(process.stderr,), daemon=True)
        log.start()
        address = _said(process, "listening on ")
        admin = _said(process, "admin on ") if address else None
        if address and admin:
            self._port = int(address.rpartition(":")[2])
            self._admin = admin
            with self._news:
                if not self._ending:
                    self._tell(state="up", address=address, problem="", failed_starts=0)
            why = self._watch(process, admin)
        else:
            why = "it ended while it started"
        if why and not self._ending:
            with self._news:
                self._tell(state="down", problem=why)
        process.kill()
        try:
            status = process.wait(_DIES_WITHIN)
        except subprocess.TimeoutExpired:  # It hangs in the kernel, on dead storage for one. The fleet loses this node.
            _log.error("stoker.ray: stokerd on %s cannot be killed: it waits in the kernel, such as for storage", self._host)
            os._exit(1)
        self._admin = None
        log.join()
        process.stdout.close()  # type: ignore[union-attr]
        with self._news:
            self._process = None
        if address is None:
            self._failed(self._last_lines[-1] if self._last_lines else _how_it_ended(status))
        elif not self._ending:
            with self._news:
                self._tell(
                    state="down", problem=why or _how_it_ended(status), restarts=self._told.restarts + 1, pid=None
                )

    def _start(self, program: str) -> Optional[subprocess.Popen[str]]:
        command = [
            program,
            "serve",
            "--listen",
            f"{_in_address(self._host)}:{self._free_port()}",
            "--admin",
            "127.0.0.1:0",
        ]
        config = None
        if self._spec.config is not None:  # In a file without a name, of which nothing is left.
            config = os.memfd_create("stokerd.yaml")
            with open(config, "w", encoding="utf-8", closefd=False) as file:
                file.write(self._spec.config)
            command += ["--config", f"/proc/self/fd/{config}"]
        try:
            return self._run(command, () if config is None else (config,))
        finally:
            if config is not None:
                os.close(config)

    def _run(self, command: list[str], files: tuple[int, ...]) -> Optional[subprocess.Popen[str]]:
        tied = [sys.executable, "-I", "-S", "-c", _TIED, str(os.getpid()), *command, *self._spec.arguments]
        self._last_lines.clear()
        with self._news:
            if self._ending:
                return None
            self._process = subprocess.Popen(
                tied,
                env={**os.environ, **self._spec.environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                pass_fds=files,
            )
            self._tell(state="starting", pid=self._process.pid)
            return self._process

    def _free_port(self) -> int:
        """The port that it had, as long as that is free; else a free one of those that it may have; else any (0)."""
        candidates = [self._port, *self._spec.ports] if self._port else list(self._spec.ports)
        for port in candidates:
            family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
            with socket.socket(family) as probe, contextlib.suppress(OSError):
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((self._host, port))
                return port
        if self._spec.ports:
            raise OSError(f"none of the ports that ports= names is free on {self._host}")
        return 0

    def _watch(self, process: subprocess.Popen[str], admin: str) -> str:
        """Returns when the process has ended, with "", or when it gave no sign of life for long, and says so."""
        healthy = asked = time.monotonic()
        while process.poll() is None:
            time.sleep(_POLL)
            now = time.monotonic()
            if self._ending or now - asked < _HEALTH_EVERY:
                continue
            with contextlib.suppress(OSError):
                if _get(admin, "/healthz")[0] == 200:
                    healthy = time.monotonic()
            asked = time.monotonic()
            if asked - healthy > self._spec.unhealthy_seconds:
                return f"it gave no sign of life for {self._spec.unhealthy_seconds:g} s"
        return ""

    def _copy_log(self, log: IO[str]) -> None:
        """Passes its log on to this actor's, which Ray keeps, and remembers the last lines."""
        for line in log:
            self._last_lines.append(line.strip())
            sys.stderr.write(line)
            sys.stderr.flush()

    def _failed(self, problem: str) -> None:
        with self._news:
            self._tell(state="down", problem=problem, failed_starts=self._told.failed_starts + 1, pid=None)

    def _tell(self, **changed: Any) -> None:
        """Requires _news."""
        if self._ending:
            changed["state"] = changed["state"] if changed.get("state") == "ended" else "draining"
        self._told = Told(**{**vars(self._told), **changed, "version": self._told.version + 1})
        self._news.notify_all()


def _said(process: subprocess.Popen[str], beginning: str) -> Optional[str]:
    """What follows `beginning` in the next line of its output; None where it ends without one."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(beginning):
            return line[len(beginning) :].strip()
    return None


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return f"it ended with status {status}"
    with contextlib.suppress(ValueError):
        return f"it ended by {signal.Signals(-status).name}"
    return f"it ended by signal {-status}"


def _get(address: str, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(address, timeout=5)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    except http.client.HTTPException as error:
        raise OSError(str(error)) from None
    finally:
        connection.close()


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def as_yaml(config: dict[str, Any]) -> str:
    """The configuration as YAML, of which JSON is a part."""
    return json.dumps(config, indent=2, ensure_ascii=False, default=os.fspath)
