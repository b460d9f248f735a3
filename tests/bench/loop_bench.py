"""./dev bench loop: a training loop in Python fed by a server, against the same loop on a batch that stays on the device.

Beside images/s it prints the client's wait, the trainer host's own CPU time and, where NVML is to be had, the GPU's
utilization. The ways:

  cached    one batch that stays on the device: the ceiling
  stoker    uint8 over the network and the bus; the device stage makes normalized float32
  separate  the same uint8 batches, cast and normalized by torch's separate operations on the device
  float32   the host makes the floats and uploads these, four times the bytes, as services do that send floats

On the CPU there is no bus, and what `stoker` does is the host's fallback.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import threading
import time
from pathlib import Path

import torch

import stoker
from stoker import transforms

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Utilization:
    """Of GPU 0, in percent, sampled while a way runs; None without NVML."""

    class Rates(ctypes.Structure):
        _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]

    def __init__(self, device):
        self._device = ctypes.c_void_p()
        self._nvml = None
        if device.type != "cuda":
            return
        try:
            nvml = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        if nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self._device)) == 0:
            self._nvml = nvml

    def __enter__(self):
        self._samples, self._done = [], threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()
        return self

    def __exit__(self, *exception):
        self._done.set()
        self._thread.join()

    def mean(self):
        return statistics.mean(self._samples) if self._samples else None

    def _sample(self):
        rates = self.Rates()
        while self._nvml is not None and not self._done.wait(0.2):
            if self._nvml.nvmlDeviceGetUtilizationRates(self._device, ctypes.byref(rates)) == 0:
                self._samples.append(rates.gpu)


def make_network():
    layers = []
    for narrow, wide in ((3, 32), (32, 64), (64, 128), (128, 256)):
        layers += [torch.nn.Conv2d(narrow, wide, 3, stride=2, padding=1), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(256, 1000))


class Bench:
    def __init__(self, servers, arguments):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.servers, self.arguments = servers, arguments
        self.network = make_network().to(self.device)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=1e-3)
        self.labels = torch.zeros(arguments.batch_size, dtype=torch.long, device=self.device)
        self.mean = torch.tensor(MEAN, device=self.device)
        self.std = torch.tensor(STD, device=self.device)
        self.loaders = []

    def ways(self):
        cached = torch.randn(self.arguments.batch_size, 3, 224, 224, device=self.device)
        return {
            "cached": lambda: cached,
            "stoker": self.batches(self.device, floats=True),
            "separate": self.batches(self.device, floats=False, finish=self.normalized),
            "float32": self.batches("cpu", floats=True, finish=lambda images: images.to(self.device)),
        }

    def batches(self, device, floats, finish=lambda images: images):
        normalized = [
            transforms.ToDtype("float32", scale=True),
            transforms.Normalize(MEAN, STD),
            transforms.ToMemoryFormat("channels_first"),
        ]
        loader = stoker.Loader(
            self.servers,
            batch_size=self.arguments.batch_size,
            device=device,
            transforms=normalized if floats else [],
        )
        self.loaders.append(loader)

        def forever():
            while True:
                for batch in loader:
                    yield batch[0]

        source = forever()
        return lambda: finish(next(source))

    def normalized(self, images):
        return ((images.to(torch.float32) / 255 - self.mean) / self.std).permute(0, 3, 1, 2).contiguous()

    def turn(self, take, seconds):
        """What `seconds` of training give, after two steps that are not counted."""
        for _ in range(2):
            self.step(take())
        self.wait()
        steps, waited, start, cpu = 0, 0.0, time.perf_counter(), time.process_time()
        with Utilization(self.device) as utilization:
            while time.perf_counter() - start < seconds:
                before = time.perf_counter()
                images = take()
                waited += time.perf_counter() - before
                self.step(images)
                steps += 1
            self.wait()
        wall, images = time.perf_counter() - start, steps * self.arguments.batch_size
        return {
            "images_per_second": images / wall,
            "taking_ms_per_batch": 1000 * waited / steps,
            "host_cpu_s_per_1000_images": 1000 * (time.process_time() - cpu) / images,
            "gpu_percent": utilization.mean(),
        }

    def step(self, images):
        if self.arguments.train:
            loss = torch.nn.functional.cross_entropy(self.network(images), self.labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        else:
            images.sum()

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def median(turns, key):
    values = [turn[key] for turn in turns if turn[key] is not None]
    return statistics.median(values) if values else None


def main():
    parser = argparse.ArgumentParser(prog="bench-loop", description=__doc__.split("\n")[0])
    parser.add_argument("--servers", help="addresses, by commas, of servers of 224×224 images; default: one started here")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=3, help="of a turn")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each way; the median counts")
    parser.add_argument("--no-train", dest="train", action="store_false", help="only read the images: the loader's limit")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    arguments = parser.parse_args()

    started = None
    if not arguments.servers:
        command = [Path(os.environ["STOKER_BENCH_BINARIES"]) / "stokerd", "serve", "--synthetic", "224x224x3"]
        started = subprocess.Popen(
            [*command, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        arguments.servers = started.stdout.readline().strip().removeprefix("listening on ")
    try:
        bench = Bench(arguments.servers.split(","), arguments)
        ways = bench.ways()
        turns = {name: [] for name in ways}
        for _ in range(arguments.rounds):
            for name, take in ways.items():
                turns[name].append(bench.turn(take, arguments.seconds))
        for loader in bench.loaders:
            loader.close()
    finally:
        if started:
            started.kill()
            started.wait()

    keys = ("images_per_second", "taking_ms_per_batch", "host_cpu_s_per_1000_images", "gpu_percent")
    figures = {name: {key: median(of_way, key) for key in keys} for name, of_way in turns.items()}
    ceiling = figures["cached"]["images_per_second"]
    where = torch.cuda.get_device_name() if bench.device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    print(f"{where}, torch {torch.__version__}, batches of {arguments.batch_size} × 224 × 224 × 3")
    print(f"{'':10}{'images/s':>10}{'of ceiling':>12}{'taking':>15}{'host CPU':>22}{'GPU':>8}")
    for name, of_way in figures.items():
        of_way["of_ceiling"] = of_way["images_per_second"] / ceiling
        gpu = "absent" if of_way["gpu_percent"] is None else f"{of_way['gpu_percent']:.0f}%"
        print(
            f"{name:10}{of_way['images_per_second']:10.0f}{of_way['of_ceiling']:12.1%}"
            f"{of_way['taking_ms_per_batch']:9.2f} ms/b{of_way['host_cpu_s_per_1000_images']:13.3f} s/1000{gpu:>11}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps({"device": where, "ways": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
