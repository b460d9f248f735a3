#!/usr/bin/env python3
"""slurm.py BIN: runs deploy/slurm/train.sbatch by Debian's Slurm, as docs/deploy/slurm.md shows it.

The cluster is a slurmctld, a munged and three slurmd, in namespaces of this machine: two nodes for servers and one for
trainers, each with an address of its own. In mid-epoch one server is killed, and the epoch's digest must be that of an
undisturbed server. Exits with 77 where there is no Slurm, or where this user may not make namespaces.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.argv[1])
NEEDED = ("slurmctld", "slurmd", "munged", "sbatch", "srun", "scontrol", "sinfo", "scancel", "openssl", "ip", "unshare")
NODES = {"c1": "10.99.0.2", "c2": "10.99.0.3", "g1": "10.99.0.4"}
SERVER_NODES = ("c1", "c2")
ATTEMPTS = 5  # Jobs until one is caught in mid-epoch.


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(77)


def run(*command, **options):
    return subprocess.run([*map(str, command)], check=True, **options)


def wait_until(so, what, seconds=120):
    deadline = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < deadline, f"{what()}\n{logs()}"
        time.sleep(0.02)


def logs():
    return "\n".join(f"{path}:\n{path.read_text(errors='replace')[-3000:]}" for path in Path.cwd().rglob("*.log"))


# ---- The cluster ----


def make_network():
    """An interface whose addresses are the nodes'. Slurm looks no names up where there is the loopback alone."""
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "name", "stoker0", "type", "veth", "peer", "name", "stoker1")
    for address in ("10.99.0.1", *NODES.values()):
        run("ip", "addr", "add", f"{address}/24", "dev", "stoker0")
    for interface in ("stoker0", "stoker1"):
        run("ip", "link", "set", interface, "up")
    names = {"localhost": "127.0.0.1", socket.gethostname(): "10.99.0.1", **NODES}
    Path("hosts").write_text("".join(f"{address} {name}\n" for name, address in names.items()))
    run("mount", "--bind", "hosts", "/etc/hosts")


def start_cluster(folder):
    here = socket.gethostname()
    munge = folder / "munge"
    munge.mkdir(mode=0o700)
    (munge / "key").write_bytes(os.urandom(1024))
    (munge / "key").chmod(0o400)
    files = [f"--{name}-file={munge / name}" for name in ("key", "pid", "seed")]
    run("munged", "--force", *files, f"--log-file={munge}/munged.log", f"--socket={munge}/socket")
    nodes = [
        f"NodeName={name} NodeHostname={here} NodeAddr={address} Port={6820 + number} CPUs=16"
        + (" Gres=gpu:1" if name == "g1" else "")
        for number, (name, address) in enumerate(NODES.items())
    ]
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "gres.conf").write_text("NodeName=g1 Name=gpu File=/dev/null\n")
    (folder / "slurm.conf").write_text("\n".join([
        "ClusterName=stoker", f"SlurmctldHost={here}(10.99.0.1)", "SlurmUser=root", "ReturnToService=2",
        "AuthType=auth/munge", f"AuthInfo=socket={munge}/socket", "CredType=cred/munge", "MpiDefault=none",
        f"StateSaveLocation={folder}/state", f"SlurmdSpoolDir={folder}/spool/%n", "SlurmdParameters=config_overrides",
        f"SlurmctldPidFile={folder}/slurmctld.pid", f"SlurmdPidFile={folder}/%n.pid",
        f"SlurmctldLogFile={folder}/slurmctld.log", f"SlurmdLogFile={folder}/%n.log",
        "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "SelectType=select/cons_tres", "GresTypes=gpu",
        "SchedulerParameters=bf_interval=1,sched_min_interval=1", "MailProg=/bin/true", *nodes,
        "PartitionName=cpu Nodes=c1,c2 Default=YES", "PartitionName=gpu Nodes=g1", "",
    ]))  # fmt: skip
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    run("slurmctld")
    for name in NODES:
        run("slurmd", "-N", name)

    def idle():
        told = subprocess.run(["sinfo", "-h", "-N", "-o", "%N %T"], capture_output=True, text=True).stdout
        return sorted(told.splitlines()) == [f"{name} idle" for name in NODES]

    wait_until(idle, lambda: "the nodes are not idle")


# ---- The job ----


def documented_command():
    """How the page submits the job."""
    text = (ROOT / "docs/deploy/slurm.md").read_text(encoding="utf-8")
    return re.findall(r"^```sh\n(sbatch .*?)^```$", text, re.MULTILINE | re.DOTALL)[0].strip()


def processes(program, word=""):
    """Those of this namespace that live, of a program with a word in its command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().split(b"\0")
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if (
            state not in "ZX"
            and Path(command[0].decode()).name == program
            and any(word in part.decode() for part in command)
        ):
            found.append(int(folder.name))
    return found


class Job:
    """The job, submitted in a folder of its own."""

    def __init__(self, name, photos, command, **environment):
        self.folder = Path.cwd() / name
        self.folder.mkdir()
        (self.folder / "photos").symlink_to(photos)
        shutil.copy(ROOT / "deploy/slurm/train.sbatch", self.folder)
        command = command.replace("sbatch ", "sbatch --output job.log ", 1)
        environment = {**os.environ, **environment}
        told = run("bash", "-c", command, cwd=self.folder, env=environment, capture_output=True, text=True).stdout
        self.number = re.fullmatch(r"Submitted batch job (\d+)\n", told)[1]

    def told(self):
        log = self.folder / "job.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def digests(self):
        return re.findall(r"^[0-9a-f]{64}$", self.told(), re.MULTILINE)

    def shown(self):
        """What Slurm knows of its first component, where the script runs."""
        return run("scontrol", "--oneliner", "show", "job", self.number, capture_output=True, text=True).stdout.split(
            "\n"
        )[0]

    def is_running(self):
        return re.search(r"JobState=(PENDING|CONFIGURING|RUNNING|COMPLETING)", self.shown())

    def end(self, status=0, servers=len(SERVER_NODES)):
        wait_until(lambda: not self.is_running(), self.told, 300)
        assert f" ExitCode={status}:0" in self.shown(), f"{self.shown()}\n{self.told()}"
        told = self.told()
        assert told.count("SIGTERM: finishing what clients are owed") >= servers, told
        assert len(re.findall(r" I stopped$", told, re.MULTILINE)) >= servers, told
        assert not processes("stokerd"), "servers outlive the job"
        assert not list(self.folder.glob("stoker-*")), "the job's key is left"


def kill_a_server_in_mid_epoch(job):
    """Whether that came in time. The trainer is stopped meanwhile, until the server is there again."""
    wait_until(lambda: "stream opened" in job.told() or job.digests(), job.told)
    trainers = processes("stoker", "digest")
    for trainer in trainers:
        os.kill(trainer, signal.SIGSTOP)
    if not trainers or job.digests():
        for trainer in trainers:
            os.kill(trainer, signal.SIGCONT)
        return False
    (server,) = processes("stokerd", "c1:7077")
    os.kill(server, signal.SIGKILL)
    wait_until(lambda: job.told().count("listening on c1:7077") == 2, job.told)
    for trainer in trainers:
        os.kill(trainer, signal.SIGCONT)
    return True


def check_a_server_is_killed(photos, expected):
    for attempt in range(ATTEMPTS):
        job = Job(f"killed-{attempt}", photos, documented_command())
        in_time = kill_a_server_in_mid_epoch(job)
        job.end()
        assert job.digests() == [expected], job.told()
        if in_time:
            assert "Killed" in job.told(), job.told()
            return
    raise AssertionError(f"none of {ATTEMPTS} jobs was in mid-epoch when it was looked at")


def check_strangers_cannot_read(photos):
    job = Job("strangers", photos, "sbatch train.sbatch photos bash -c 'until [[ -e go ]]; do sleep 0.1; done'")
    wait_until(lambda: all(f"listening on {node}:7077" in job.told() for node in SERVER_NODES), job.told)
    (secret,) = job.folder.glob("stoker-*")
    assert secret.stat().st_mode & 0o777 == 0o700
    trust = ["--tls-ca", secret / "cert.pem"]
    known = [*trust, "--tls-cert", secret / "cert.pem", "--tls-key", secret / "key.pem"]
    for arguments, may_ask in (([], False), (trust, False), (known, True)):
        asked = subprocess.run(
            [BIN / "stoker", "list", "--servers", "c1:7077", *arguments], capture_output=True, text=True
        )
        assert (asked.returncode == 0 and "photos" in asked.stdout) == may_ask, (arguments, asked)
    (job.folder / "go").touch()
    job.end()


def check_trainers_that_end_at_once(photos):
    """Servers may not have begun then; none stays."""
    job = Job("short", photos, "sbatch train.sbatch photos true")
    job.end(servers=0)


def check_a_node_is_lost(photos, expected):
    """The last check, since the node stays lost."""
    train = "until [[ -e go ]]; do sleep 0.1; done; stoker digest --connect-timeout 300"
    job = Job("lost", photos, f"sbatch train.sbatch photos bash -c '{train}'")
    wait_until(lambda: all(f"listening on {node}:7077" in job.told() for node in SERVER_NODES), job.told)
    run("scontrol", "update", "nodename=c2", "state=down", "reason=test")
    wait_until(lambda: not processes("stokerd", "c2:7077"), job.told)
    (job.folder / "go").touch()
    job.end(servers=1)
    assert job.digests() == [expected], job.told()


def check_the_trainers_status_is_the_jobs(photos, expected):
    train = "stoker digest --connect-timeout 300; echo rank $RANK of $WORLD_SIZE at $MASTER_ADDR; exit 3"
    job = Job("insecure", photos, f"sbatch train.sbatch photos bash -c '{train}'", STOKER_INSECURE="yes")
    job.end(3)
    assert job.digests() == [expected] and "rank 0 of 1 at g1" in job.told(), job.told()


def inside(folder):
    os.chdir(folder)
    try:
        make_network()
    except subprocess.CalledProcessError as error:
        skip(f"this machine makes no network of its own: {error}")
    # The nodes share one machine here, so each server listens on its own node's address.
    (folder / "programs").mkdir()
    program = folder / "programs/stokerd"
    program.write_text(f'#!/bin/bash\nexec "{BIN}/stokerd" "${{@/#0.0.0.0:/$SLURMD_NODENAME:}}"\n')
    program.chmod(0o755)
    path = f"{program.parent}:{BIN}:{os.environ['PATH']}"
    os.environ.update(PATH=path, XDG_CACHE_HOME=str(folder / "cache"), STOKER_PORT="7077")
    photos = folder / "photos"
    run(BIN / "make-photo-folder", photos, "--classes", "4", "--images", "250")
    with subprocess.Popen([BIN / "stokerd", "serve", "--data", photos], stdout=subprocess.PIPE, text=True) as server:
        server.stdout.readline()
        expected = run("stoker", "digest", "--servers", "127.0.0.1:7077", capture_output=True, text=True).stdout.strip()
        server.terminate()
    start_cluster(folder)
    check_a_server_is_killed(photos, expected)
    check_strangers_cannot_read(photos)
    check_the_trainers_status_is_the_jobs(photos, expected)
    check_trainers_that_end_at_once(photos)
    check_a_node_is_lost(photos, expected)
    print("slurm.py: a job whose server was killed read what one server makes; strangers read nothing")


def main():
    if len(sys.argv) == 3:
        inside(Path(sys.argv[2]))
        return
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        skip(f"this machine lacks {', '.join(missing)}: apt-get install slurmctld slurmd slurm-client munge")
    # All processes of the cluster end with the first one of its namespace.
    alone = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0 or subprocess.run([*alone, "true"], capture_output=True).returncode != 0:
        skip("this user may not make namespaces")
    folder = tempfile.mkdtemp(prefix="slurm-")
    try:
        sys.exit(subprocess.run([*alone, sys.executable, __file__, BIN.resolve(), folder]).returncode)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
