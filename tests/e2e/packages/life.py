#!/usr/bin/env python3
"""life.py: the life of Debian packages on a machine with systemd. Those in the folder `older` beside this file are
installed, serve while the server is killed, told to read its configuration again and upgraded to those in `newer`, are
removed, and leave no trace. The commands that systemd.md, beside this file, shows are run as it shows them.

It changes the machine, so boot.sh runs it in one that is thrown away: as a unit of its systemd, as root.
"""

import concurrent.futures
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
OLDER, NEWER = (sorted((HERE / folder).glob("*.deb")) for folder in ("older", "newer"))
CONFIG = Path("/etc/stoker/stokerd.yaml")
DROP_INS = Path("/etc/systemd/system/stokerd.service.d")
ADDRESS = "127.0.0.1:7077"
SECRETS = CONFIG.parent
SECRET_FILES = ("tls.key", "tls.crt", "token", "admin-token", "tokens")
TOKEN = "a-token-of-enough-bytes"
STARTED = time.monotonic()

# 2 s of a core, in which a reader is stopped before all is made.
IMAGE = "{name: image, dtype: uint8, shape: [64, 48, 3]}"
NOISE = f"{{name: noise, synthetic: {{samples: 2000, spin_us: 1000, fields: [{IMAGE}]}}}}"
OTHER = f"{{name: other, synthetic: {{samples: 8, fields: [{IMAGE}]}}}}"

OP = """
import mmap

import stoker

# As a compiler at run time has it: memory that may be written and run.
mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)


@stoker.op(version=1)
def negative(image, rng):
    return 255 - image
"""


def run(*command, succeeds=True, **options):
    """The output of a command, which succeeds, or, if it should not, fails."""
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    assert (done.returncode == 0) == succeeds, f"{command} gave {done.returncode}:\n{done.stdout}\n{journal()}"
    return done.stdout.strip()


def shown(heading, language="sh"):
    """What the page shows first below a heading in a language: of commands all but those that open an editor."""
    section = (HERE / "systemd.md").read_text().split(f"\n## {heading}\n")[1]
    block = section.split(f"```{language}\n")[1].split("```")[0]
    return [line for line in block.splitlines() if not line.startswith("editor ")] if language == "sh" else block


def run_as_shown(*commands, folder="older"):
    for command in commands:
        run("sh", "-ec", command, cwd=HERE / folder)


def journal():
    return subprocess.run(
        ["journalctl", "--no-pager", "-o", "cat", "-n", "30", "-u", "stokerd*"], stdout=subprocess.PIPE, text=True
    ).stdout


def property_of(name, unit="stokerd.service"):
    return run("systemctl", "show", "--value", "-p", name, unit)


def state(unit="stokerd.service"):
    return property_of("ActiveState", unit)


def await_that(holds, what):
    """Waits, up to minutes, which nothing here should take."""
    for _ in range(1200):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError(f"{what} did not come about\n{journal()}")


def told(text):
    print(f"{time.monotonic() - STARTED:5.0f} s  {text}", flush=True)


def install(packages):
    # Whatever else they need is installed, or waits in apt's cache.
    run("apt-get", "install", *packages)


def write_config(*datasets, listen=ADDRESS, admin="{listen: 127.0.0.1:7078}", more=""):
    CONFIG.write_text(
        f"listen: {listen}\ndrain_seconds: 1\nworkers: 2\nmemory_limit: 1GiB\n"
        f"admin: {admin}\n{more}datasets: [{', '.join(datasets)}]\n"
    )


def digest(*arguments, **options):
    return run("stoker", "digest", "--servers", ADDRESS, "--dataset", "noise", *arguments, **options).split()[-1]


class Reader:
    """Reads an epoch, and is stopped in its midst. Another one begins where it was over before it was seen."""

    def __init__(self):
        command = ["stoker", "digest", "--servers", ADDRESS, "--dataset", "noise"]
        while True:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            await_that(lambda: open_streams() == 1 or self.process.poll() is not None, "a stream")
            self.process.send_signal(signal.SIGSTOP)
            if self.process.poll() is None:
                return
            assert self.process.wait() == 0, journal()

    def digest(self):
        self.process.send_signal(signal.SIGCONT)
        output, _ = self.process.communicate(timeout=300)
        assert self.process.returncode == 0
        return output.split()[-1]


def open_streams():
    try:
        with urllib.request.urlopen("http://127.0.0.1:7078/metrics", timeout=60) as answer:
            text = answer.read().decode()
    except OSError:
        return 0
    found = re.search(r'^stoker_streams_active\{dataset="noise"\} (\d+)$', text, re.MULTILINE)
    return int(found[1]) if found else 0


def stop():
    """Ends the server and its socket, and has systemd forget how often it was started lately."""
    run("systemctl", "stop", "stokerd.socket", "stokerd.service")
    subprocess.run(["systemctl", "reset-failed", "stokerd.service"], stderr=subprocess.DEVNULL)


def drop(drop_in):
    (DROP_INS / drop_in).unlink()
    run("systemctl", "daemon-reload")


def status_of_process():
    return Path(f"/proc/{property_of('MainPID')}/status").read_text()


def files():
    """What is on the machine that bears our name: all of the packages, of their units and of dpkg's records does."""
    found = set()
    for top in ("/etc", "/lib/systemd", "/opt", "/run/systemd", "/usr", "/var/cache", "/var/lib"):
        for folder, folders, names in os.walk(top):
            found.update(path for name in [*folders, *names] if "stoker" in (path := os.path.join(folder, name)))
    return found


# ---- what is promised ----


def installed_and_idle():
    run_as_shown(shown("Debian 12")[0])
    install(OLDER)
    assert state() == state("stokerd.socket") == "inactive", "nothing is started before it is configured"
    assert run("systemctl", "is-enabled", "stokerd.service", succeeds=False) == "disabled"
    said = run("stokerd", "check", "--config", CONFIG, succeeds=False)
    assert "dataset imagenet: image_folder.path: /srv/datasets/imagenet/train: No such file" in said, said
    run("systemctl", "start", "stokerd.service", succeeds=False)
    stop()
    assert "with Stoker's fixes" in run("stokerd", "--version")
    told(f"installed: {run('stokerd', '--version')}")


def serves_as_nobody():
    write_config(NOISE)
    run_as_shown(*shown("Debian 12")[1:])
    assert state() == "active" and property_of("StatusText") == f"listening on {ADDRESS}"
    status = status_of_process()
    uid = re.search(r"^Uid:\t(\d+)", status, re.MULTILINE)[1]
    assert 61184 <= int(uid) <= 65519, f"{uid} is no dynamic user"
    assert "\nCapEff:\t0000000000000000\n" in status and "\nNoNewPrivs:\t1\n" in status and "\nSeccomp:\t2\n" in status
    assert "/usr/lib/stoker/libgrpc.so.29" in Path(f"/proc/{property_of('MainPID')}/maps").read_text()
    found = digest()
    told(f"serves as user {uid}; digest {found}")
    limit = Path("/sys/fs/cgroup/system.slice/stokerd.service/memory.max")
    there = f"is {limit.read_text().strip()}" if limit.exists() else "does nothing, since there is no controller for it"
    told(f"MemoryMax= {there}")
    return found


def killed_and_started_again(expected):
    reader, before = Reader(), property_of("MainPID")
    os.kill(int(before), signal.SIGKILL)
    await_that(lambda: property_of("MainPID") not in (before, "0") and state() == "active", "a start after SIGKILL")
    assert property_of("NRestarts") == "1"
    assert reader.digest() == expected
    told("killed by SIGKILL in mid-epoch: started again, and the reader's digest is the same")


def reads_its_configuration_again(expected):
    reader, before = Reader(), property_of("MainPID")
    write_config(NOISE, OTHER)
    run("systemctl", "reload", "stokerd.service")
    await_that(lambda: property_of("StatusText") == "read the configuration again", "a reload")
    assert "other" in run("stoker", "list", "--servers", ADDRESS)
    CONFIG.write_text("datasets: [{nam: noise}]\n")
    run("systemctl", "reload", "stokerd.service")
    await_that(lambda: "kept its configuration" in property_of("StatusText"), "a reload that is refused")
    assert state() == "active" and property_of("MainPID") == before
    assert reader.digest() == expected
    told("systemctl reload: a new dataset, then a broken file, which changes nothing")
    write_config(NOISE)


def waits_behind_its_socket(expected):
    run_as_shown(*shown("Socket activation"))
    assert state() == "inactive"
    assert digest() == expected and state() == "active"
    reader, before = Reader(), property_of("MainPID")
    os.kill(int(before), signal.SIGKILL)
    await_that(lambda: property_of("MainPID") != before, "the end of a killed process")
    with socket.create_connection(("127.0.0.1", 7077)):  # It waits, and is not refused.
        pass
    assert reader.digest() == expected
    told("started by its socket, which listens while the server is killed and started again")


def refuses_another_socket():
    stop()
    write_config(NOISE, listen="127.0.0.1:7079")
    run("systemctl", "start", "stokerd.socket")
    run("systemctl", "start", "stokerd.service", succeeds=False)
    said = f"passed a socket of {ADDRESS}, and the configuration says 127.0.0.1:7079"
    await_that(lambda: said in journal(), f"'{said}' in the journal")
    stop()
    write_config(NOISE)
    told("a socket of another address than the configuration's is refused by name")


def answers_operators_on_a_unix_socket():
    write_config(NOISE, admin="{listen: 'unix:/run/stoker/admin.sock'}")
    run("systemctl", "start", "stokerd.service")
    assert run("stokerd", "health", "--config", CONFIG) == "ok"
    stop()
    write_config(NOISE)
    told("operators are answered at unix:/run/stoker/admin.sock")


def make_secrets():
    """A certificate with its key, tokens and the admin's token, in files that root alone may read."""
    subject = ["-subj", "/CN=stokerd", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1"]
    keys = ["-newkey", "rsa:2048", "-nodes", "-keyout", SECRETS / "tls.key", "-out", SECRETS / "tls.crt"]
    run("openssl", "req", "-x509", *keys, *subject)
    (SECRETS / "token").write_text(TOKEN + "\n")
    (SECRETS / "admin-token").write_text(TOKEN + "\n")
    (SECRETS / "tokens").write_text(f"{run('sha256sum', input=TOKEN).split()[0]} trainer\n")
    for name in SECRET_FILES:
        (SECRETS / name).chmod(0o600)


def write_config_with_secrets(folder):
    write_config(
        NOISE,
        admin=f"{{listen: 127.0.0.1:7078, token_file: {folder}/admin-token}}",
        more=f"tls: {{certificate_file: {folder}/tls.crt, key_file: {folder}/tls.key}}\n"
        f"access: {{token_file: {folder}/tokens}}\n",
    )


def is_served_with_secrets(expected):
    by_tls = ["--tls-ca", SECRETS / "tls.crt"]
    digest(*by_tls, succeeds=False)
    assert digest(*by_tls, "--token-file", SECRETS / "token") == expected
    request = urllib.request.Request("http://127.0.0.1:7078/status", headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["healthy"]


def uses_credentials(expected):
    make_secrets()
    write_config_with_secrets("/run/credentials/stokerd.service")
    run_as_shown(*shown("Secrets"))
    assert is_served_with_secrets(expected)
    stop()
    drop("credentials.conf")
    told("key, tokens and the admin's token come as credentials, of files that root alone can read")


def reads_what_a_group_may_read(expected):
    run("groupadd", "--system", "datasets")
    for name in SECRET_FILES:
        shutil.chown(SECRETS / name, group="datasets")
        (SECRETS / name).chmod(0o640)
    write_config_with_secrets(SECRETS)
    run("systemctl", "start", "stokerd.service", succeeds=False)
    stop()
    (DROP_INS / "group.conf").write_text(shown("The unit", "ini"))
    run("systemctl", "daemon-reload")
    run("systemctl", "start", "stokerd.service")
    assert is_served_with_secrets(expected)
    stop()
    drop("group.conf")
    for name in SECRET_FILES:
        (SECRETS / name).unlink()
    run("groupdel", "datasets")
    told("files that a group may read are read as one of its members, and only so")


def runs_ops_in_python():
    file = Path("/opt/negative.py")
    file.write_text(OP)
    write_config(NOISE, more=f"ops: [{file}]\n")
    run("systemctl", "start", "stokerd.service", succeeds=False)
    await_that(lambda: "PermissionError" in journal(), "a refusal of memory that may be written and run")
    stop()
    run_as_shown(*shown("Ops in Python"))
    pipeline = Path("/tmp/pipeline.yaml")
    pipeline.write_text("ops: [negative: ]\n")
    digest("--pipeline", pipeline)
    stop()
    drop("python-ops.conf")
    DROP_INS.rmdir()
    file.unlink()
    pipeline.unlink()
    told("an op in Python that needs memory it may write and run has it by the drop-in, and only so")


def upgraded_while_it_serves(expected):
    write_config(NOISE)
    run("systemctl", "enable", "--now", "stokerd.socket", "stokerd.service")
    before, edited, done, digests = property_of("MainPID"), CONFIG.read_text(), threading.Event(), []

    def read():
        while not done.is_set():
            digests.append(digest())

    with concurrent.futures.ThreadPoolExecutor() as readers:
        reading = readers.submit(read)
        try:
            await_that(lambda: open_streams() == 1, "a stream")
            run_as_shown(*shown("A newer version"), folder="newer")
        finally:
            done.set()
        reading.result()
    names = [package.name.partition("_")[0] for package in OLDER]
    (version,) = set(run("dpkg-query", "-W", "-f", "${Version}\n", *names).splitlines())
    assert version.endswith("+newer"), version
    assert "newer" in Path("/usr/share/stoker/stokerd.yaml").read_text(), "and yet nobody was asked about the operator's"
    assert state() == state("stokerd.socket") == "active" and property_of("MainPID") != before
    assert run("systemctl", "is-enabled", "stokerd.service") == "enabled" and CONFIG.read_text() == edited
    assert set(digests) == {expected}, digests
    told(f"upgraded to {version} while {len(digests)} epochs were read, one after the other: all with that digest")


def reads_in_python(expected):
    script = (
        "import stoker, stoker._library\n"
        "assert str(stoker._library.path().resolve()).startswith('/usr/lib/libstoker.so.1.')\n"
        f"print(stoker.Loader('{ADDRESS}', dataset='noise', batch_size=64, last_batch='partial').digest(0))\n"
    )
    assert run("/usr/bin/python3", "-c", script) == expected
    told("read in Python, by the library of libstoker1: that digest too")


def removed():
    names = [package.name.partition("_")[0] for package in OLDER]
    run("apt-get", "remove", *names)
    assert state() == state("stokerd.socket") == "inactive" and CONFIG.exists()
    assert socket.socket().connect_ex(("127.0.0.1", 7077)) != 0
    run("apt-get", "purge", "stoker-server")  # It alone has a configuration.
    told("removed: stopped, with the configuration left; then purged")


def main():
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    Path("/etc/apt/apt.conf.d/90life").write_text('APT::Get::Assume-Yes "true";\nAPT::Install-Recommends "false";\n')
    before = files()
    installed_and_idle()
    assert len(files() - before) > 100
    expected = serves_as_nobody()
    killed_and_started_again(expected)
    reads_its_configuration_again(expected)
    waits_behind_its_socket(expected)
    refuses_another_socket()
    answers_operators_on_a_unix_socket()
    uses_credentials(expected)
    reads_what_a_group_may_read(expected)
    runs_ops_in_python()
    upgraded_while_it_serves(expected)
    reads_in_python(expected)
    removed()
    left = files() - before
    assert not left, f"purging left {sorted(left)}"
    told("nothing is left")


if __name__ == "__main__":
    main()
