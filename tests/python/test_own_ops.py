"""Ops of one's own, in Python, as a server runs them: docs/own-ops.md."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy
import pytest
from conftest import BINARIES, Server, stoker as run_stoker

import stoker
from stoker import Loader
from stoker import transforms as T

SOURCE = Path(__file__).parents[2]
SALT = SOURCE / "examples" / "own_ops" / "salt.py"
SIZE = "64x48x3"
IMAGES = [numpy.random.default_rng(i).integers(256, size=(64, 48, 3)).astype("uint8") for i in range(3)]

#: Ops that do what they must not.
WRONG = """
import ctypes, itertools, os, time
import numpy, stoker

calls = itertools.count()
kept = []

@stoker.op(version=1)
def fail(image, rng, at=-1, how="raise"):
    if image[0, 0, 0] % 16 != at: return image
    if how == "raise": raise RuntimeError("no luck")
    if how == "bad": raise stoker.BadSample("too dark")
    if how == "crash": ctypes.string_at(0)
    if how == "exit": os._exit(3)
    if how == "kill": os.kill(os.getpid(), 9)
    if how == "hang": time.sleep(1000)
    if how == "shape": return image[:1]
    if how == "dtype": return image.astype(float)
    if how == "nothing": return None
    if how == "leak":
        while True: kept.append(numpy.ones(1 << 20))
    if how == "quiet leak":  # As of a library that tells of it in a way of its own.
        try:
            while True: kept.append(numpy.ones(1 << 20))
        except MemoryError:
            raise RuntimeError("the allocator failed") from None

@stoker.op(version=1)
def slow(image, rng, seconds=0.0):
    time.sleep(seconds)
    return image

@stoker.op(version=1)
def mirror(image, rng):
    return image[:, ::-1]  # A view of the memory that it is written to.
"""


def served(start_server, tmp_path, *files, **python_ops):
    """A server of noise with these files of ops."""
    config = tmp_path / f"stokerd-{len(list(tmp_path.iterdir()))}.yaml"
    settings = {"python": sys.executable, **python_ops}
    options = ", ".join(f"{key}: {value}" for key, value in settings.items())
    config.write_text(f"ops: [{', '.join(map(str, files))}]\npython_ops: {{{options}}}\nworkers: 2\n")
    return start_server("--config", config, "--synthetic", SIZE)


def refusal(tmp_path, *files, **python_ops):
    """What a server that does not start says."""
    options = ", ".join(f"{key}: {value}" for key, value in {"python": sys.executable, **python_ops}.items())
    config = tmp_path / "refused.yaml"
    config.write_text(f"ops: [{', '.join(map(str, files))}]\npython_ops: {{{options}}}\n")
    done = subprocess.run(
        [BINARIES / "stokerd", "check", "--config", config, "--synthetic", SIZE], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1, done.stdout
    return done.stderr


def digest(servers, *ops, samples=200, **options):
    """The digest of the first samples."""
    total = stoker.Digest()
    with Loader(
        servers, batch_size=20, split=f"[:{samples}]", transforms=list(ops), output="numpy", **options
    ) as loader:
        batches = list(loader.batches())
        for batch in batches:
            total.add(batch)
    return total.hexdigest()


def written(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(textwrap.dedent(text))
    return file


def compiled(tmp_path, name, text):
    """A library of ops in C++, which sees the installed headers alone."""
    include = tmp_path / "include" / "stoker" / "plugin"
    include.mkdir(parents=True)
    for header in ["stoker_op.h", "stoker_op.hpp"]:
        shutil.copy(SOURCE / "server" / "plugin" / header, include)
    source, library = written(tmp_path, f"{name}.cc", text), tmp_path / f"lib{name}.so"
    subprocess.run(
        ["c++", "-std=c++17", "-O2", "-shared", "-fPIC", f"-I{tmp_path / 'include'}", "-o", library, source], check=True
    )
    return library


def children(server: Server):
    """The processes that it has started and that run still."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = entry.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # It has ended meanwhile.
            continue
        if int(parent) == server.process.pid and state != "Z":
            found.append(int(entry.parent.name))
    return found


# ---- Draws ----


def test_draws_are_the_same_one_by_one_and_as_arrays():
    for name, arguments in [("bits", ()), ("uniform", (-3, 7.5)), ("integers", (5, 12)), ("bernoulli", (0.3,))]:
        single, many = stoker.ops.Draws(7, 3), stoker.ops.Draws(7, 3)
        one_by_one = [getattr(single, name)(*arguments) for _ in range(60)]
        array = getattr(many, name)(*arguments, size=(4, 15))
        assert array.shape == (4, 15)
        assert array.ravel().tolist() == one_by_one
        assert single.bits() == many.bits(), "as many words were used"


def test_draws_have_bounds_and_say_so():
    draws = stoker.ops.Draws(1)
    assert set(draws.integers(3, size=200).tolist()) == {0, 1, 2}
    assert draws.integers(1) == 0
    assert -(1 << 63) <= draws.integers(-(1 << 63), -1) < 0
    for wrong in [lambda: draws.integers(0), lambda: draws.integers(3, 2), lambda: draws.uniform(2, 1)]:
        with pytest.raises(ValueError):
            wrong()


def test_numpys_generator_follows_the_key_and_not_the_draws():
    a, b = stoker.ops.Draws(7, 3), stoker.ops.Draws(7, 3)
    a.uniform()
    assert a.numpy().normal() == b.numpy().normal()
    assert a.numpy() is a.numpy()
    assert stoker.ops.Draws(7, 4).numpy().normal() != stoker.ops.Draws(7, 3).numpy().normal()


# ---- One op in three languages ----

IN_CPP = r"""
#include <stoker/plugin/stoker_op.hpp>
struct Negate {
  static constexpr auto kName = "negate_cpp";
  static constexpr uint32_t kVersion = 1;
  static constexpr auto kSummary = "";
  double p = 0.5;
  template <typename Visit> void Arguments(Visit&& visit) { visit("p", p); }
  void Apply(const stoker::op::Image& in, stoker::op::Image& out, stoker::op::Draws& draws) const {
    const bool negate = draws.Bernoulli(p);
    for (int64_t i = 0; i < 3 * in.height * in.width; ++i) out.pixels[i] = negate ? 255 - in.pixels[i] : in.pixels[i];
  }
};
struct Noise {
  static constexpr auto kName = "noise_cpp";
  static constexpr uint32_t kVersion = 1;
  static constexpr auto kSummary = "";
  template <typename Visit> void Arguments(Visit&&) {}
  void Apply(const stoker::op::Image& in, stoker::op::Image& out, stoker::op::Draws& draws) const {
    const int64_t level = draws.Below(100);
    for (int64_t i = 0; i < 3 * in.height * in.width; ++i)
      out.pixels[i] = static_cast<uint8_t>(in.pixels[i] / 2 + draws.Below(level + 1) + (draws.Uniform(0, 20) < 1 ? 1 : 0));
  }
};
STOKER_OPS(Negate, Noise)
"""

IN_PYTHON = """
import numpy, stoker

@stoker.op(version=1)
def negate_py(image, rng, p=0.5):
    return 255 - image if rng.bernoulli(p) else image

@stoker.op(version=1)
def noise_py(image, rng):
    level = rng.integers(100)
    for i in numpy.ndindex(image.shape):
        image[i] = image[i] // 2 + rng.integers(level + 1) + (rng.uniform(0, 20) < 1)
    return image
"""


def test_an_op_in_cpp_in_python_and_built_in_gives_one_digest(start_server, tmp_path):
    library = compiled(tmp_path, "ops", IN_CPP)
    server = served(start_server, tmp_path, library, written(tmp_path, "ops.py", IN_PYTHON))
    crop = T.RandomCrop([32, 48])
    built_in = digest(server.address, crop, T.RandomInvert(p=0.3))
    assert digest(server.address, crop, T.OwnOp("negate_cpp", p=0.3)) == built_in
    assert digest(server.address, crop, T.OwnOp("negate_py", p=0.3)) == built_in
    assert digest(server.address, crop, T.OwnOp("negate_py", p=0.4)) != built_in
    cut = T.CenterCrop([6, 7])
    noise = digest(server.address, cut, T.OwnOp("noise_cpp"), samples=40)
    assert digest(server.address, cut, T.OwnOp("noise_py"), samples=40) == noise


SEES_IN_CPP = r"""
#include <stoker/plugin/stoker_op.hpp>
struct Tint {
  static constexpr auto kName = "tint_cpp";
  static constexpr uint32_t kVersion = 1;
  static constexpr auto kSummary = "";
  int64_t times = 1;
  stoker::op::Field<int64_t> label;
  template <typename Visit> void Arguments(Visit&& visit) { visit("times", times); visit("label", label); }
  void Apply(const stoker::op::Image& in, stoker::op::Image& out, stoker::op::Draws&) const {
    for (int64_t i = 0; i < 3 * in.height * in.width; ++i)
      out.pixels[i] = static_cast<uint8_t>(in.pixels[i] + times * label.numbers[0]);
  }
};
STOKER_OPS(Tint)
"""

SEES_IN_PYTHON = """
import numpy, stoker

@stoker.op(version=1, fields={"label": numpy.int64(0)}, size=lambda height, width, times: (height, width))
def tint_py(image, rng, times: int = 1, *, label):
    assert label.dtype == numpy.int64 and label.shape == ()
    return image + (times * label).astype("uint8")
"""


def test_an_op_sees_a_field_of_its_sample_that_need_not_be_sent(start_server, tmp_path):
    library = compiled(tmp_path, "tint", SEES_IN_CPP)
    fields = "[{name: image, dtype: uint8, shape: [64, 48, 3]}, {name: label, dtype: int64}]"
    config = f"""
        datasets: [{{name: noise, synthetic: {{samples: 100, fields: {fields}}}}}]
        ops: [{library}, {written(tmp_path, "tint.py", SEES_IN_PYTHON)}]
        python_ops: {{python: {sys.executable}}}
    """
    server = start_server("--config", written(tmp_path, "tint.yaml", config))
    assert "(sees the field label)" in run_stoker("list", "--ops", "--servers", server.address)

    def images(*ops, fields=("image", "label")):
        pipeline = T.Pipeline(list(ops), fields=list(fields))
        with Loader(server.address, batch_size=20, split="[:100]", transforms=pipeline, output="numpy", as_dict=True) as loader:
            return [{name: numpy.array(value) for name, value in batch.items()} for batch in loader]

    plain = images()
    labels = numpy.concatenate([batch["label"] for batch in plain])
    assert len(set(labels.tolist())) > 10
    expected = [(batch["image"] + 3 * batch["label"].astype("uint8")[:, None, None, None]) for batch in plain]
    for op in ("tint_cpp", "tint_py"):
        for ops in ([T.OwnOp(op, times=3)], [T.OwnOp(op, times=1), T.OwnOp(op, times=2)]):
            for fields in (("image", "label"), ("image",)):
                for want, batch in zip(expected, images(*ops, fields=fields), strict=True):
                    assert numpy.array_equal(batch["image"], want), (op, fields)
    mosaic = T.Mosaic(32)
    joined = images(mosaic)
    for op in ("tint_cpp", "tint_py"):
        for fields in (("image", "label"), ("image",)):
            for want, batch in zip(joined, images(mosaic, T.OwnOp(op, times=3), fields=fields), strict=True):
                tinted = want["image"] + 3 * want["label"].astype("uint8")[:, None, None, None]
                assert numpy.array_equal(batch["image"], tinted), "the label is that of the position's own sample"
    with pytest.raises(stoker.StokerError, match="tint_py.label: is a field of the sample"):
        images(T.OwnOp("tint_py", label=3))


# ---- What a server offers ----


def test_the_example_is_listed_served_and_changes_the_size(start_server, tmp_path):
    one, two = (served(start_server, tmp_path, SALT) for _ in range(2))
    listed = run_stoker("list", "--servers", one.address)
    assert "salt                       1  Makes some pixels white, or with pepper black." in listed
    assert "- salt: {amount: 0.01, pepper: false}" in listed
    assert "- thumbnail: {by: …}" in listed
    only_ops = run_stoker("list", "--ops", "--servers", one.address)
    assert only_ops == listed[listed.index("OWN OP") :]
    plain = start_server("--synthetic", SIZE)
    assert run_stoker("list", "--ops", "--servers", plain.address) == "This server has no own ops.\n"
    pipeline = written(tmp_path, "p.yaml", "ops:\n- salt: {amount: 0.5, pepper: true}\n- thumbnail: {by: 4}\n")
    explained = run_stoker("describe", "--explain", "--servers", one.address, "--pipeline", pipeline)
    assert "this server's own salt, version 1" in explained
    ops = [T.OwnOp("salt", amount=0.5, pepper=True), T.OwnOp("thumbnail", by=4)]
    with Loader(one.address, batch_size=10, transforms=ops, output="numpy") as loader:
        images = next(iter(loader))[0]
        assert images.shape == (10, 16, 12, 3)
        assert images.mean() < 100
        assert loader.stats()["server_seconds"]["own_ops"] > 0
    assert digest(one.address, *ops) == digest([one.address, two.address], *ops)


def test_views_and_nested_ops_draw_by_their_own_place(start_server, tmp_path):
    server = served(start_server, tmp_path, SALT)
    salted = T.OwnOp("salt", amount=0.5)
    with Loader(server.address, batch_size=8, transforms=[salted, salted], output="numpy") as loader:
        twice = next(iter(loader))[0]
    share = (twice == 255).all(axis=-1).mean()
    assert 0.7 < share < 0.8, "two independent halves leave a quarter"
    nested = T.RandomApply([salted, salted], p=1)
    views = T.Pipeline(views=[T.Views("two", 2, [salted])])
    with Loader(server.address, batch_size=8, transforms=views, output="numpy", as_dict=True) as loader:
        salted_views = next(iter(loader))["two"] == 255
    both_white = salted_views.all(axis=-1).all(axis=1).mean()
    assert 0.2 < both_white < 0.3, "views that draw alike would have half of the pixels in common"
    with Loader(server.address, batch_size=8, transforms=[nested], output="numpy") as loader:
        both = next(iter(loader))[0]
    assert 0.7 < (both == 255).all(axis=-1).mean() < 0.8


def test_an_op_works_on_what_a_mosaic_joined(start_server, tmp_path):
    one, two = (served(start_server, tmp_path, SALT) for _ in range(2))
    mosaic = T.Mosaic(48)
    salted = [mosaic, T.OwnOp("salt", amount=0.5)]
    assert digest(one.address, *salted) == digest([one.address, two.address], *salted)
    with (
        Loader(one.address, batch_size=8, transforms=[mosaic], output="numpy") as plain,
        Loader(one.address, batch_size=8, transforms=salted, output="numpy") as with_salt,
    ):
        before, after = next(iter(plain))[0], next(iter(with_salt))[0]
    white = (after == 255).all(axis=-1)
    assert 0.45 < white.mean() < 0.55 and (before == after)[~white].all()


@pytest.mark.parametrize(
    ("op", "words"),
    [
        (T.OwnOp("salt", placement="device"), "runs on the server only"),
        (T.OwnOp("salt", amount=2.0), "salt.py:15: ValueError: amount is 2.0; it is a share, from 0 to 1"),
        (T.OwnOp("salt", amont=0.5), "salt.amont: unknown argument; known are amount, pepper"),
        (T.OwnOp("salt", amount="much"), "salt.amount: expected a number, found 'much'"),
        (T.OwnOp("pepper"), "there is no op 'pepper'"),
        (T.OwnOp("thumbnail"), "thumbnail.by: must be given"),
        (T.OwnOp("thumbnail", by=0), "ZeroDivisionError"),
        (T.OwnOp("thumbnail", by=1000), "size= gave (0, 0) for 256 × 256"),
    ],
)
def test_a_job_learns_what_is_wrong_with_its_ops_before_it_trains(start_server, tmp_path, op, words):
    server = served(start_server, tmp_path, SALT)
    with pytest.raises(stoker.StokerError) as caught:
        Loader(server.address, batch_size=8, transforms=[op])
    assert words in str(caught.value)


# ---- What goes wrong ----


@pytest.fixture
def wrong(start_server, tmp_path):
    return served(start_server, tmp_path, written(tmp_path, "wrong.py", WRONG), seconds=100, memory="256MiB")


@pytest.fixture
def impatient(start_server, tmp_path):
    return served(start_server, tmp_path, written(tmp_path, "wrong.py", WRONG), seconds=2)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("raise", "wrong.py:11: RuntimeError: no luck"),
        ("bad", "too dark"),
        ("crash", "own op 'fail': its process ended by signal 11, SIGSEGV"),
        ("exit", "own op 'fail': its process ended with status 3"),
        ("kill", "own op 'fail': its process ended by signal 9, SIGKILL"),
        ("leak", "out of memory; its process was replaced"),
        ("quiet leak", "RuntimeError: the allocator failed: out of memory; its process was replaced"),
        ("shape", "it returned uint8 of 1 × 48 × 3; expected uint8 of 64 × 48 × 3"),
        ("dtype", "it returned float64 of 64 × 48 × 3; expected uint8"),
        ("nothing", "it returned object of ; expected uint8"),
    ],
)
def test_a_fault_is_named_and_costs_its_process_at_most(wrong, how, words):
    check_that_a_fault_is_named(wrong, how, words)


def test_a_hang_is_named_and_costs_its_process_at_most(impatient):
    check_that_a_fault_is_named(impatient, "hang", "own op 'fail': its process took longer than 2s, and was killed")


def check_that_a_fault_is_named(wrong, how, words):
    first = first_positions(wrong.address)
    at, level = min((at, level) for level, at in first.items() if at > 0)  # Others wait with it, before and after.
    ops = [T.OwnOp("fail", at=level, how=how)]
    with pytest.raises(stoker.StokerError) as caught:
        digest(wrong.address, *ops)
    assert words in str(caught.value)
    assert "own op 'fail': " in str(caught.value)
    assert f"position {at})" in str(caught.value), "it is this sample's"
    assert wrong.process.poll() is None, "the server lives"
    assert digest(wrong.address, T.OwnOp("fail")) == digest(wrong.address), "and serves the op"


def levels(address):
    """What `fail` looks at of each sample."""
    with Loader(address, batch_size=20, split="[:200]", transforms=[], output="numpy") as loader:
        return [int(image[0, 0, 0]) % 16 for images, *_ in loader for image in images]


def first_positions(address):
    """For each level the first position that has it."""
    all_levels = levels(address)
    return {level: all_levels.index(level) for level in set(all_levels)}


@pytest.mark.parametrize("batch_size", [1, 20])
def test_a_bad_sample_is_substituted_where_the_pipeline_says_so(wrong, batch_size):
    bad = levels(wrong.address).count(5)
    ops = [T.OwnOp("fail", at=5, how="bad")]
    with Loader(
        wrong.address, batch_size=batch_size, split="[:200]", transforms=ops, bad_samples="substitute", output="numpy"
    ) as loader:
        substituted = [s for batch in loader.batches() for s in batch.substituted]
    assert len(substituted) == bad > 0
    assert all("own op 'fail': too dark" in s.reason for s in substituted)


def test_a_sample_has_its_time_by_itself(impatient):
    """16 that are asked for at once take 5 s of a process, whose limit is 2 s a sample."""
    assert digest(impatient.address, T.OwnOp("slow", seconds=0.3), samples=20) == digest(impatient.address, samples=20)


@pytest.mark.parametrize(
    "ops",
    [
        [T.OwnOp("mirror")],
        [T.OwnOp("mirror"), T.OwnOp("slow"), T.RandomHorizontalFlip(), T.OwnOp("mirror")],
        [T.RandomApply([T.OwnOp("mirror")], p=0.5), T.RandomCrop([20, 30])],
        [T.RandomChoice([T.OwnOp("mirror"), T.OwnOp("slow")]), T.ColorJitter(0.4)],
    ],
)
def test_a_span_is_made_as_its_samples_are(wrong, ops):
    with Loader(wrong.address, batch_size=1, split="[:60]", transforms=ops, output="numpy") as loader:
        alone = stoker.Digest()
        for batch in loader.batches():
            alone.add(batch)
    assert digest(wrong.address, *ops, samples=60) == alone.hexdigest()


def test_images_that_differ_in_size_and_large_ones_are_made_as_small_ones(start_server, tmp_path, photos):
    file = written(tmp_path, "wrong.py", WRONG)
    config = tmp_path / "stokerd.yaml"
    config.write_text(f"ops: [{file}]\npython_ops: {{python: {sys.executable}}}\nworkers: 2\n")
    server = start_server("--config", config, "--data", photos)
    crop, large = T.CenterCrop(64), T.Resize([1400, 1400])  # 5.9 MB are more than a room.
    mirrored = digest(server.address, crop, T.RandomHorizontalFlip(p=1), samples=60)
    assert digest(server.address, T.OwnOp("mirror"), crop, samples=60) == mirrored
    mirrored = digest(server.address, large, T.RandomHorizontalFlip(p=1), crop, samples=20)
    assert digest(server.address, large, T.OwnOp("mirror"), crop, samples=20) == mirrored


def test_a_killed_process_is_replaced_and_another_server_makes_the_span(start_server, tmp_path):
    one, two = (served(start_server, tmp_path, SALT) for _ in range(2))
    ops = [T.OwnOp("salt", amount=0.5)]
    whole = digest(two.address, *ops, samples=4000)
    total = stoker.Digest()
    killed = 0
    with Loader(
        [one.address, two.address], batch_size=20, split="[:4000]", transforms=ops, output="numpy"
    ) as loader:
        for number, batch in enumerate(loader.batches()):
            total.add(batch)
            if number % 50 == 0:
                for pid in children(one):
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
    assert killed >= 4
    assert total.hexdigest() == whole
    assert digest(one.address, *ops, samples=4000) == whole


def test_servers_that_differ_are_refused_by_name(start_server, tmp_path):
    one = served(start_server, tmp_path, SALT)
    other_source = tmp_path / "other"
    other_source.mkdir()
    (other_source / "salt.py").write_text(SALT.read_text().replace("255", "254"))
    other = served(start_server, tmp_path, other_source / "salt.py")
    ops = [T.OwnOp("salt", amount=0.5)]
    # It is told as soon as it is known, which may be when the job begins.
    with pytest.warns(stoker.StokerWarning, match="is not used: .*'salt' is made of salt.py"):
        servers = [one.address, other.address]
        with Loader(servers, batch_size=20, split="[:4000]", transforms=ops, output="numpy") as loader:
            for _ in loader:
                pass
            stats = loader.stats()
    problems = [server["problem"] for server in stats["servers"] if server["problem"]]
    assert len(problems) == 1
    assert "'salt' is made of salt.py" in problems[0]
    assert sum(server["spans"] > 0 for server in stats["servers"]) == 1


def test_files_that_change_under_a_server_are_not_taken_up_by_half(start_server, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(SALT.read_text())
    server = served(start_server, tmp_path, mine)
    mine.write_text(SALT.read_text().replace("255", "254"))
    killed = children(server)
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    while set(killed) & set(children(server)):
        time.sleep(0.01)
    with pytest.raises(stoker.StokerError) as caught:
        for _ in range(3):
            digest(server.address, T.OwnOp("salt", amount=0.5))
    assert "have changed since the server started; restart the server" in str(caught.value)


def test_the_processes_end_with_their_server(start_server, tmp_path):
    server = served(start_server, tmp_path, SALT)
    pids = children(server)
    assert len(pids) == 2, "one a worker"
    server.stop()  # Killed: it can tell nobody.
    for _ in range(600):
        alive = [pid for pid in pids if Path(f"/proc/{pid}").exists()]
        if not alive:
            return
        time.sleep(0.1)
    raise AssertionError(f"{alive} live on")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import no_such_module", "mine.py:1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("x = 1", "has no ops; decorate a function with @stoker.op(version=1)"),
        (
            "import stoker, time\n@stoker.op(version=1)\ndef late(image, rng):\n  image[0, 0] = time.time_ns() // 97 % 251\n"
            "  return image",
            "op 'late', at its trial with default arguments: it made two images of one",
        ),
        (
            "import stoker\n@stoker.op(version=1)\ndef resize(image, rng): return image",
            "op 'resize': Stoker has an op of that name",
        ),
        ("import stoker\n@stoker.op(version=0)\ndef a(image, rng): return image", "op 'a': version is 0"),
        ("import stoker\n@stoker.op(version=1)\ndef a(image, rng, b): return image", "argument 'b' has no default"),
        ("import stoker\n@stoker.op(version=1)\ndef a(image, rng, b=[]): return image", "argument 'b' is of type"),
        ("import stoker\n@stoker.op(version=1)\ndef a(image, rng): return image[1:]", "a: it returned uint8 of 255"),
        (
            "import numpy, stoker\n@stoker.op(version=1, fields={'b': 1j})\ndef a(image, rng, b): return image",
            "op 'a': fields= has complex128 for 'b'; fields are uint8",
        ),
        (
            "import numpy, stoker\n@stoker.op(version=1, fields={'c': 1})\ndef a(image, rng): return image",
            "fields= names 'c', for which the function has no argument",
        ),
        ("import os; os._exit(3)", "cannot run ops: its process ended with status 3"),
    ],
)
def test_a_server_says_what_is_wrong_with_a_file(tmp_path, text, words):
    said = refusal(tmp_path, written(tmp_path, "mine.py", text))
    assert words.replace("a: it", "it") in said


def test_a_server_says_that_it_has_no_python(tmp_path):
    assert "python_ops.python: there is no program /no/python" in refusal(tmp_path, SALT, python="/no/python")
    assert "cannot run ops" in refusal(tmp_path, SALT, python="false")
    assert "python_ops.memory: 1048576 bytes are fewer" in refusal(tmp_path, SALT, memory="1MiB")


# ---- What docs/own-ops.md shows ----


def shown(words):
    """The block of Python with these words, as a namespace."""
    page = (SOURCE / "docs" / "own-ops.md").read_text()
    (block,) = [b for b in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S) if words in b]
    return block


def test_the_pages_first_op_is_one():
    namespace = {}
    exec(shown("def salt"), namespace)
    assert stoker.ops.test(namespace["salt"], amount=0.5).op == "salt"


def test_a_transform_of_torchvision_is_an_op():
    torch = pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    namespace = {"stoker": stoker, "torch": torch, "v2": v2}
    exec(shown("torchvision"), namespace)
    (first, *_) = stoker.ops.test(namespace["elastic"], IMAGES).outputs
    assert (first != IMAGES[0]).any()


def test_a_transform_of_albumentations_is_an_op():
    albumentations = pytest.importorskip("albumentations")
    namespace = {"stoker": stoker, "A": albumentations}
    exec(shown("albumentations"), namespace)
    first, second, *_ = stoker.ops.test(namespace["rain"], [IMAGES[0], IMAGES[0]]).outputs
    assert (first != second).any()


# ---- Without a server ----


def load(file):
    namespace = {}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    return namespace


def test_an_op_is_tried_out_where_it_is_written():
    ops = load(SALT)
    report = stoker.ops.test(ops["salt"], amount=0.5)
    assert len(report.outputs) > 3
    assert "salt: the same bytes twice" in str(report)
    image = numpy.arange(4 * 6 * 3, dtype=numpy.uint8).reshape(4, 6, 3)
    (small,) = stoker.ops.test(ops["thumbnail"], [image], by=2).outputs
    assert small.shape == (2, 3, 3)
    def look(image, rng, label):
        return image + label.astype("uint8")

    look = stoker.op(version=1, fields={"label": numpy.int64(0)})(look)
    (seen,) = stoker.ops.test(look, [image], label=numpy.int64(2)).outputs
    assert numpy.array_equal(seen, image + 2)
    with pytest.raises(stoker.ops.WrongOp, match="label is float64 of 1 dimensions, where the op's example is int64 of 0"):
        stoker.ops.test(look, [image], label=numpy.zeros(3))
    assert small[0, 0].tolist() == image[:2, :2].reshape(4, 3).mean(0).astype(int).tolist()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return (image + next(calls)).astype('uint8')", "made two images of"),
        ("image[0, 0] = numpy.random.default_rng().integers(256, size=3); return image", "made two images of"),
        ("return image[:3]", "size="),
        ("return image.astype('float32')", "it returned float32"),
    ],
)
def test_what_an_op_must_not_do_is_found_where_it_is_written(tmp_path, body, words):
    file = written(
        tmp_path,
        "mine.py",
        f"import itertools, numpy, stoker\ncalls = itertools.count()\n@stoker.op(version=1)\ndef mine(image, rng): {body}\n",
    )
    with pytest.raises(stoker.ops.WrongOp, match=words.replace("(", r"\(")):
        stoker.ops.test(load(file)["mine"])
