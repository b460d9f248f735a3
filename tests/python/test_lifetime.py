"""A loader through outages, in other threads and processes, under signals, and as programs end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from conftest import SMALL, ids_of, loader_of, python, stoker

import stoker as package
from stoker import _waits


# ---- outages ----


def patiently(attempt):
    """What `attempt` returns once nothing it waits for takes too long."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return attempt()
        except package.DeadlineExceededError:
            assert time.monotonic() < deadline


def test_after_an_outage_each_iteration_begins_afresh(photos, server, start_server):
    other = start_server("--data", photos)
    with loader_of(other, progress_timeout=0.5, prefetch=1) as loader, loader_of(server) as undisturbed:

        def first_batch():
            batches = iter(loader)
            next(batches)
            return batches

        batches = patiently(first_batch)
        other.stop()
        for _ in range(2):  # In mid-epoch, and before the next one's first batch.
            with pytest.raises(package.DeadlineExceededError):
                list(batches)
            batches = iter(loader)
        assert loader.state_dict()["position"] == 0
        other.start(*other.arguments)
        ids = patiently(lambda: ids_of(loader))
        undisturbed.set_epoch(loader.epoch - 1)
        assert ids == ids_of(undisturbed)


def test_an_outage_before_the_first_batch_keeps_a_restored_place(photos, server, start_server):
    with loader_of(server) as loader:
        batches = iter(loader)
        next(batches), next(batches)
        state = loader.state_dict()
        expected = [index for _ in batches for index in loader.info.sample_ids]
    other = start_server("--data", photos)
    with loader_of(other, progress_timeout=0.5) as loader:
        other.stop()
        loader.load_state_dict(state)
        for _ in range(2):
            with pytest.raises(package.DeadlineExceededError):
                list(loader)
            assert loader.state_dict() == state
        other.start(*other.arguments)

        def rest():
            if loader.state_dict() != state:  # Some of it came, and then nothing for too long.
                loader.load_state_dict(state)
            return ids_of(loader)

        assert patiently(rest) == expected


def test_the_only_server_coming_back_with_other_data_is_said_at_once(photos, start_server, tmp_path):
    server = start_server("--data", photos)
    other = tmp_path / "other" / "photos"
    shutil.copytree(photos, other)
    next(path for path in sorted(other.rglob("*")) if path.is_file()).unlink()
    with loader_of(server, progress_timeout=3600) as loader:
        list(loader)
        server.stop()
        server.start("--data", other)
        loader.set_epoch(5)
        with pytest.raises(package.FailedPreconditionError, match="copy of the dataset differs"):
            list(loader)


def test_a_long_wait_is_told_and_its_end(photos, start_server, monkeypatch):
    server = start_server("--data", photos)
    monkeypatch.setattr(_waits.Silence, "_TELL_AFTER", 0.2)
    with loader_of(server, prefetch=1) as loader:
        batches = iter(loader)
        next(batches)
        server.stop()
        threading.Timer(1, server.start, server.arguments).start()
        with pytest.warns(package.StokerWarning) as told:
            list(batches)
    told = [text for warning in told if "batch" in (text := str(warning.message))]
    assert len(told) >= 2 and len(told) % 2 == 0  # A slow machine waits more than once.
    for waiting, over in zip(told[::2], told[1::2]):
        assert waiting.startswith(f"no batch for 0.2 s ({server.address}: ") and waiting.endswith("): waiting on")
        assert over.startswith("a batch came after ")


# ---- how programs end ----


@pytest.mark.parametrize(
    "ending",
    [
        "list(loader)",
        "next(iter(loader))",
        "batches = iter(loader); next(batches)",
        "kept = [arrays for arrays in loader]",
        "kept = list(loader.batches()); view = kept[0].tensors[0].memoryview()",
        "kept = next(iter(loader.batches())).tensors[0].__dlpack__()",
        "loader.itself = loader; next(iter(loader))",
        "digest = stoker.Digest()",
        "loader.close()",
        "import threading; threading.Thread(target=list, args=[loader]).start()",
    ],
)
@pytest.mark.parametrize("output", ["numpy", "torch"])
def test_a_program_ends_without_a_word(server, ending, output):
    pytest.importorskip(output)
    program = f"import stoker\nloader = stoker.Loader({server.address!r}, batch_size=16, output={output!r})\n{ending}\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


_LEAVE_LOADERS = """
    import gc, os, stoker, sys, time
    gc.disable()

    def leave_one():
        loader = stoker.Loader(sys.argv[1], batch_size=16, output="numpy", prefetch=2)
        for images, labels in loader:
            break

    def held():
        return [len(os.listdir(f"/proc/self/{what}")) for what in ("task", "fd")]

    def megabytes():
        return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

    for _ in range(100):
        leave_one()
    before, memory = held(), megabytes()
    for _ in range(200):
        leave_one()
    deadline = time.monotonic() + 60
    # gRPC's own threads come and go, so there may be fewer than before.
    while any(now > then for now, then in zip(held(), before)) and time.monotonic() < deadline:
        time.sleep(0.1)
    print(all(now <= then for now, then in zip(held(), before)), megabytes() - memory < 60, before, held(), memory, megabytes())
"""


def test_loaders_left_in_mid_iteration_hold_nothing(server):
    assert python(_LEAVE_LOADERS, server.address).startswith("True True")


# ---- other threads and processes, signals ----


def test_close_ends_a_wait_of_another_thread(server, start_server, photos):
    slow = start_server("--data", photos)
    loader = loader_of(slow, progress_timeout=600)
    slow.pause()
    raised = []

    def wait():
        try:
            for _ in loader:
                pass
        except package.CancelledError as error:
            raised.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    loader.close()
    thread.join(60)
    assert not thread.is_alive() and len(raised) == 1


_INTERRUPTED = """
    import sys, stoker
    loader = stoker.Loader(sys.argv[1], batch_size=16, last_batch="partial", progress_timeout=600, prefetch=1,
                           output="dlpack")
    digest, step, interrupts = stoker.Digest(), 0, 0
    batches = loader.batches()
    while True:
        try:
            if step == 3 and not interrupts:
                print("stop", flush=True)
                sys.stdin.readline()
                print("waiting", flush=True)
            for batch in batches:
                assert loader.state_dict()["position"] == batch.info().positions[-1] + 1 or batch.size < 16
                digest.add(batch)
                step += 1
                if step == 3 and not interrupts:
                    break
            else:
                break
        except KeyboardInterrupt:
            interrupts += 1
            assert loader.state_dict()["position"] == 16 * step
            print("interrupted", flush=True)
            sys.stdin.readline()
    print(interrupts, digest.hexdigest())
"""


def test_ctrl_c_interrupts_a_wait_and_the_loader_goes_on(start_server, photos):
    server = start_server("--data", photos)
    expected = stoker("digest", "--servers", server.address).strip()
    command = [sys.executable, "-c", textwrap.dedent(_INTERRUPTED), server.address]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "stop\n"
        server.pause()
        child.stdin.write("\n")
        child.stdin.flush()
        assert child.stdout.readline() == "waiting\n"
        time.sleep(1)  # For the few batches that were on their way. Nothing ends the wait after them but the signal.
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        server.go_on()
        child.stdin.write("\n")
        child.stdin.flush()
        assert child.stdout.readline() == f"1 {expected}\n"
        assert child.wait(60) == 0
    finally:
        child.kill()
        child.wait()


def test_ctrl_c_interrupts_connecting():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        code = f"import stoker; print('go', flush=True); stoker.Loader({address!r}, batch_size=1, connect_timeout=500)"
        child = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            assert child.stdout.readline() == "go\n"
            connection, _ = silent.accept()
            child.send_signal(signal.SIGINT)
            assert "KeyboardInterrupt" in child.communicate(timeout=60)[1]
        finally:
            child.kill()
            child.wait()
            connection.close()


def test_use_after_fork_is_explained(server):
    with loader_of(server) as loader:
        batches = iter(loader)
        images, _ = next(batches)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                next(batches)
            except package.ForkedError as error:
                os.write(write, str(error).encode())
            finally:
                del images
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            said = pipe.read()
        assert os.waitpid(child, 0)[1] == 0
        assert "num_workers at 0" in said and str(child) in said
        assert sum(1 for _ in batches) == 11  # The parent goes on.


def test_a_fork_beside_a_waiting_thread_is_explained(start_server, photos):
    server = start_server("--data", photos)
    loader = loader_of(server, progress_timeout=600)
    server.pause()

    def wait():
        with pytest.raises(package.CancelledError):
            list(loader)

    thread = threading.Thread(target=wait)
    thread.start()
    for call in (
        loader.state_dict,
        loader.stats,
        loader.close,
        lambda: next(iter(loader)),
        lambda: loader.set_epoch(1),
    ):
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # Ends a child that would wait for ever.
            try:
                call()
                os._exit(int(call == loader.close))
            except package.ForkedError:
                os._exit(1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    loader.close()
    thread.join(60)
    assert not thread.is_alive()


def test_pickling_is_explained(server):
    import pickle

    with loader_of(server) as loader, pytest.raises(TypeError, match="num_workers"):
        pickle.dumps(loader)
