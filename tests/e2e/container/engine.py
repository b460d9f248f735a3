"""As much of a container engine as tests need: processes in a root of their own, as a user without rights, with what is
mounted there, in a network. For root, and inside `alone`, after whose end nothing is left."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def alone(script, *arguments):
    """Runs a script in namespaces of its own: what it mounts, starts and connects ends with it. Skips the test for
    users who may not do that."""
    if os.geteuid() != 0:
        print("SKIPPED: needs root, to enter an image's root")
        sys.exit(77)
    enter = [
        "unshare",
        "--mount",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        sys.executable,
        script,
        "--inside",
    ]
    status = subprocess.run([*enter, *map(str, arguments)]).returncode
    if status:
        sys.exit(status)


def run(*words):
    subprocess.run(list(map(str, words)), check=True)


class Network:
    """A bridge, to which containers are connected, and this process. Hosts are known by name."""

    def __init__(self):
        run("mkdir", "-p", "/run/netns")
        run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
        self.hosts = {}
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "addr", "add", "10.89.0.1/24", "dev", "bridge")
        run("ip", "link", "set", "bridge", "up")

    def add(self, name):
        """Adds a host, and returns its network namespace."""
        number = len(self.hosts) + 2
        self.hosts[name] = f"10.89.0.{number}"
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"host{number}", "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", f"host{number}", "master", "bridge", "up")
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", name, "addr", "add", f"{self.hosts[name]}/24", "dev", "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        return f"/run/netns/{name}"


class Container:
    """A root, entered as an engine does it.

    root: what its files are, which stay as they are
    scratch: an empty folder
    mounts: (source, path there, "ro" or "rw"), where no source is an empty folder of its user's
    network: the namespace, or this process's
    """

    def __init__(self, root, scratch, user, environment, mounts=(), hosts=None, network=None, read_only=True):
        self.user, self.environment = user, environment
        self.enter = [shutil.which("nsenter"), f"--net={network}"] if network else []
        self.root = scratch / "root"
        run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", scratch)
        for name in ("upper", "work", "root"):
            (scratch / name).mkdir()
        layers = f"lowerdir={root},upperdir={scratch}/upper,workdir={scratch}/work"
        run("mount", "-t", "overlay", "-o", layers, "overlay", self.root)
        if hosts:
            (self.root / "etc/hosts").unlink(missing_ok=True)
            (self.root / "etc/hosts").write_text(
                "127.0.0.1 localhost\n" + "".join(f"{ip} {name}\n" for name, ip in hosts.items())
            )
        for source, path, mode in mounts:
            self._mount(source, self.root / path[1:], mode)
        for name in ("proc", "dev"):
            (self.root / name).mkdir(exist_ok=True)
            run("mount", "--rbind", f"/{name}", self.root / name)
        if read_only:
            run("mount", "-o", "remount,ro", self.root)

    def _mount(self, source, place, mode):
        place.parent.mkdir(parents=True, exist_ok=True)
        if source is None:
            place.mkdir(exist_ok=True)
            uid, gid = self.user.split(":")
            run("mount", "-t", "tmpfs", "-o", f"uid={uid},gid={gid},mode=700", "tmpfs", place)
            return
        if Path(source).is_dir():
            place.mkdir(exist_ok=True)
        else:
            place.touch()
        run("mount", "--bind", source, place)
        if mode == "ro":
            run("mount", "-o", "remount,bind,ro", place)

    def command(self, *words):
        # The environment has no PATH, perhaps, by which these would be found.
        setpriv, chroot = shutil.which("setpriv"), shutil.which("chroot")
        confined = [setpriv, "--no-new-privs", "--inh-caps=-all", chroot, f"--userspec={self.user}", "--groups="]
        return [*self.enter, *confined, str(self.root), *words]

    def start(self, *words, **options):
        return subprocess.Popen(self.command(*words), env=self.environment, text=True, **options)

    def run(self, *words):
        return subprocess.run(self.command(*words), env=self.environment, capture_output=True, text=True)
