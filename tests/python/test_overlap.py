"""The order in which stoker.Overlap queues work and lets go of memory, on a GPU that is played here: streams whose work
runs late, interleaved by a seed, and allocators that use memory again as soon as they may."""

import collections
import contextlib
import random
import unittest
import weakref

from stoker.overlap import Overlap


class Event:
    time = None  # When it was reached.


class FakeGpu:
    """Its streams, as Overlap takes them, and what runs on them. Without `waits` or `keeps` it ignores these calls."""

    concurrent = True
    side = "side"

    def __init__(self, seed=0, waits=True, keeps=True):
        self._random = random.Random(seed)
        self._waits, self._keeps = waits, keeps
        self._queues = {name: collections.deque() for name in ("caller", "side", "copy")}
        self._pools = {name: Pool(self, name) for name in self._queues}
        self._current = "caller"
        self._clock = 0
        self.queued = []  # The names of work, in the order in which the host queued it.

    def current(self):
        return self._current

    @contextlib.contextmanager
    def on(self, stream):
        before, self._current = self._current, stream
        try:
            yield
        finally:
            self._current = before

    def no_grad(self):
        return contextlib.nullcontext()

    def record(self, stream, timed=False):
        event = Event()
        self._push(stream, lambda: setattr(event, "time", self._clock))
        return event

    def wait(self, stream, event):
        if self._waits:
            self.bind(stream, event)

    def keep_for(self, tensor, stream):
        if self._keeps:
            tensor.users.append(stream)

    def milliseconds(self, begin, end):
        return None if end.time is None else end.time - begin.time

    def bind(self, stream, event):
        self._queues[stream].append(event)

    def allocate(self, users=()):
        return self._pools[self._current].allocate(users)

    def work(self, name, run, cost=1):
        self.queued.append(name)
        self._push(self._current, run, cost)

    def finish(self):
        while any(self._queues.values()):
            self._run_some(1)

    def _push(self, stream, run, cost=0):
        self._queues[stream].append((run, cost))
        self._run_some(self._random.randrange(4))

    def _run_some(self, steps):
        for _ in range(steps):
            ready = [q for q in self._queues.values() if q and not (isinstance(q[0], Event) and q[0].time is None)]
            if not ready:
                return
            head = self._random.choice(ready).popleft()
            if not isinstance(head, Event):
                self._clock += head[1]
                head[0]()


class Tensor:
    def __init__(self, buffer, users):
        self.buffer, self.users = buffer, users


class Pool:
    """Memory of one stream. What was let go is given out at once: its next use comes later on that stream anyway, and
    waits for what its other users had queued by then."""

    def __init__(self, gpu, stream):
        self._gpu, self._stream, self._free = gpu, stream, []

    def allocate(self, users):
        buffer, events = self._free.pop() if self._free else ([-1], [])
        for event in events:
            self._gpu.bind(self._stream, event)
        tensor = Tensor(buffer, list(users))
        weakref.finalize(tensor, self._let_go, buffer, tensor.users)
        return tensor

    def _let_go(self, buffer, users):
        self._free.append((buffer, [self._gpu.record(user) for user in users if user != self._stream]))


class Loader:
    """The numbers from `position` on as images and labels, bound to the caller's stream as a GPU's loader does it."""

    def __init__(self, gpu, batches, fail_at=None):
        self._gpu, self._batches, self._fail_at = gpu, batches, fail_at
        self.position = 0

    def __len__(self):
        return self._batches

    def __iter__(self):
        while self.position < self._batches:
            if self.position == self._fail_at:
                raise RuntimeError("lost")
            self.position += 1
            self.info = f"batch {self.position - 1}"
            yield self._images(self.position - 1), self.position - 1
        self.position = 0

    def _images(self, number):
        with self._gpu.on("copy"):
            images = self._gpu.allocate(users=["caller"])
            self._gpu.work(f"copy {number}", lambda buffer=images.buffer: buffer.__setitem__(0, number))
            made = self._gpu.record("copy")
        self._gpu.bind("caller", made)
        return images

    def state_dict(self):
        return {"position": self.position}

    def load_state_dict(self, state):
        self.position = state["position"]


class Encoder:
    """Ten times its input; `cost` is by stream."""

    def __init__(self, gpu, cost=None, fail_at=None):
        self._gpu, self._cost, self._fail_at = gpu, cost or {}, fail_at
        self.calls = 0

    def __call__(self, images):
        self.calls += 1
        if self.calls - 1 == self._fail_at:
            raise ValueError("no features")
        features = self._gpu.allocate()
        source, target = images.buffer, features.buffer
        self._gpu.work(
            f"encode {self.calls - 1}",
            lambda: target.__setitem__(0, source[0] * 10),
            self._cost.get(self._gpu.current(), 1),
        )
        return features


def train(gpu, overlap):
    """What training read, step by step."""
    seen = []
    for features, label in overlap:
        gpu.work(f"train {label}", lambda buffer=features.buffer: seen.append(buffer[0]))
        del features
    gpu.finish()
    return seen


def run(gpu, mode, batches=30):
    return train(gpu, Overlap(Encoder(gpu), Loader(gpu, batches), mode, trial_steps=2, streams=gpu))


def run_beside_a_thread(gpu, batches=30):
    """As run, but each batch is trained on in the midst of Overlap's making the next, as another thread might do it."""
    seen, held = [], []
    encode = Encoder(gpu)

    def train_on_held():
        while held:
            features = held.pop(0)
            with gpu.on("caller"):
                gpu.work("train", lambda buffer=features.buffer: seen.append(buffer[0]))
            del features

    def encoder(images):
        train_on_held()
        return encode(images)

    for features, _ in Overlap(encoder, Loader(gpu, batches), "on", streams=gpu):
        held.append(features)
        del features
    train_on_held()
    gpu.finish()
    return seen


class OverlapTest(unittest.TestCase):
    def test_training_reads_the_same_in_every_mode_however_the_streams_interleave(self):
        for seed in range(100):
            for mode in ("on", "off", "auto"):
                self.assertEqual(run(FakeGpu(seed), mode), [10 * n for n in range(30)], (seed, mode))

    def test_features_may_be_used_and_let_go_by_another_thread_while_the_next_are_made(self):
        for seed in range(100):
            self.assertEqual(run_beside_a_thread(FakeGpu(seed)), [10 * n for n in range(30)], seed)

    def test_without_the_waits_or_the_kept_memory_this_gpu_reads_wrong_values(self):
        for fault in ({"waits": False}, {"keeps": False}):
            wrong = sum(run_beside_a_thread(FakeGpu(seed, **fault)) != [10 * n for n in range(30)] for seed in range(100))
            self.assertGreater(wrong, 0, fault)

    def test_the_next_batch_is_encoded_beside_the_training_on_this_one(self):
        gpu = FakeGpu()
        run(gpu, "on", batches=10)
        for n in range(9):
            self.assertLess(gpu.queued.index(f"encode {n + 1}"), gpu.queued.index(f"train {n}"))
            if n < 8:  # And no further ahead: two batches' memory suffices.
                self.assertGreater(gpu.queued.index(f"encode {n + 2}"), gpu.queued.index(f"train {n}"))

    def test_off_encodes_where_it_trains(self):
        gpu = FakeGpu()
        run(gpu, "off", batches=10)
        order = [name for name in gpu.queued if not name.startswith("copy")]
        self.assertEqual(order, [f"{what} {n}" for n in range(10) for what in ("encode", "train")])

    def test_auto_keeps_the_faster_way_and_logs_it_once(self):
        for side, caller, faster in ((1, 9, True), (9, 1, False)):
            gpu = FakeGpu()
            encoder = Encoder(gpu, cost={"side": side, "caller": caller})
            overlap = Overlap(encoder, Loader(gpu, 60), "auto", trial_steps=5, streams=gpu)
            decided = []
            with self.assertLogs("stoker", "INFO") as log:
                for features, label in overlap:
                    gpu.work(f"train {label}", lambda: None)
                    gpu.finish()
                    decided.append(overlap.overlapped)
            self.assertIsNone(decided[0])
            self.assertEqual(decided[-1], faster)
            self.assertEqual(len(log.output), 1)
            self.assertIn("overlap: on" if faster else "overlap: off", log.output[0])
            ahead = gpu.queued.index("encode 59") < gpu.queued.index("train 58")
            self.assertEqual(ahead, faster)

    def test_auto_goes_on_trying_in_the_next_epoch(self):
        gpu = FakeGpu()
        overlap = Overlap(Encoder(gpu), Loader(gpu, 10), "auto", trial_steps=5, streams=gpu)
        for epoch in range(6):
            self.assertEqual(train(gpu, overlap), [10 * n for n in range(10)])
        self.assertIsNotNone(overlap.overlapped)

    def test_the_state_is_that_of_the_batch_handed_out(self):
        for mode in ("on", "off", "auto"):
            gpu = FakeGpu()
            loader = Loader(gpu, 30)
            overlap = Overlap(Encoder(gpu), loader, mode, trial_steps=2, streams=gpu)
            for n, _ in enumerate(overlap):
                self.assertEqual(overlap.state_dict(), {"position": n + 1}, mode)
                self.assertEqual(overlap.info, f"batch {n}", mode)
            self.assertEqual(overlap.state_dict(), loader.state_dict())

    def test_a_job_that_broke_off_goes_on_where_it_was(self):
        gpu = FakeGpu()
        overlap = Overlap(Encoder(gpu), Loader(gpu, 10), "on", streams=gpu)
        for _, label in overlap:
            if label == 3:
                break
        state = overlap.state_dict()
        resumed = Overlap(Encoder(gpu), Loader(gpu, 10), "on", streams=gpu)
        resumed.load_state_dict(state)
        self.assertEqual([label for _, label in resumed], list(range(4, 10)))

    def test_errors_come_after_the_batches_before_them(self):
        for mode in ("on", "off"):
            gpu = FakeGpu()
            for encoder, loader, error in (
                (Encoder(gpu), Loader(gpu, 10, fail_at=3), RuntimeError),
                (Encoder(gpu, fail_at=3), Loader(gpu, 10), ValueError),
            ):
                labels = []
                with self.assertRaises(error):
                    for _, label in Overlap(encoder, loader, mode, streams=gpu):
                        labels.append(label)
                self.assertEqual(labels, [0, 1, 2], mode)

    def test_named_fields_and_nested_features(self):
        gpu = FakeGpu()
        kept = []
        gpu.keep_for = lambda tensor, stream: kept.append(tensor)
        batches = [{"view": images, "label": label} for images, label in Loader(gpu, 3)]
        encoder = lambda images: (images, {"deep": [images, None]})  # noqa: E731
        out = list(Overlap(encoder, batches, "on", field="view", streams=gpu))
        self.assertEqual([batch["label"] for batch in out], [0, 1, 2])
        self.assertIs(out[1]["view"][1]["deep"][0], batches[1]["view"])
        self.assertEqual(kept, [batches[n]["view"] for n in (1, 1, 2, 2)])  # The first is encoded where it is used.

        Pair = collections.namedtuple("Pair", "images labels")
        (pair,) = Overlap(lambda images: -images, [Pair(1, 2)], "off", streams=gpu)
        self.assertEqual(pair, Pair(-1, 2))

    def test_what_it_does_not_know_it_refuses_by_name(self):
        with self.assertRaisesRegex(ValueError, "overlap: 'sometimes'"):
            Overlap(None, [], "sometimes")
        with self.assertRaisesRegex(ValueError, "trial_steps: 0"):
            Overlap(None, [], trial_steps=0)


class TorchTest(unittest.TestCase):
    def setUp(self):
        try:
            import torch
        except ImportError:
            self.skipTest("there is no torch")
        self.torch = torch

    def batches(self, device):
        torch = self.torch
        numbers = torch.Generator().manual_seed(1)
        return [(torch.rand(64, 512, generator=numbers).to(device), n) for n in range(60)]

    def features(self, mode, device):
        torch = self.torch
        torch.manual_seed(0)
        encoder = torch.nn.Sequential(*(torch.nn.Linear(512, 512) for _ in range(4))).to(device)
        overlap = Overlap(encoder, self.batches(device), mode, trial_steps=3)
        sums = []
        for features, n in overlap:
            self.assertFalse(features.requires_grad)
            sums.append((features.double().sum(), n))
        return overlap, [(total.item(), n) for total, n in sums]

    def test_on_the_cpu_there_is_nothing_to_overlap(self):
        overlap, on = self.features("on", "cpu")
        self.assertIs(overlap.overlapped, False)
        self.assertEqual(on, self.features("off", "cpu")[1])
        self.assertEqual(len(on), 60)

    def test_on_a_gpu_every_mode_gives_the_same(self):
        if not self.torch.cuda.is_available():
            self.skipTest("there is no GPU")
        off = self.features("off", "cuda")[1]
        for mode in ("on", "auto"):
            self.assertEqual(self.features(mode, "cuda")[1], off)


if __name__ == "__main__":
    unittest.main()
