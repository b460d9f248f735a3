"""./dev bench python: stoker.Loader beside PyTorch's DataLoader over the same photographs, in uint8 and in float32.

Each is a training process that takes batches and does nothing with them. Beside images/s it prints the seconds on cores
that 1000 images cost the training process itself, and what works for it: a DataLoader's workers, or stokerd. The ways take
turns, round by round. Server, workers and trainers have the cores of this machine together.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).parent / "peers"
BINARIES = Path(os.environ["STOKER_BENCH_BINARIES"])
KEYS = ("images_per_second", "trainer_cpu_s_per_1000_images", "workers_cpu_s_per_1000_images")


class Way:
    """A script of peers/, and the lines that are spoken with it; see peers/peer.py."""

    def __init__(self, files, script, *arguments):
        command = [sys.executable, PEERS / script, *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.turns = []
        answer = self.ask("".join(f"{file}\n" for file in [*files, ""]))
        if not answer.startswith("ready "):
            sys.exit(f"bench-python: {script}: {answer.strip() or 'ended'}")
        self.version = answer.removeprefix("ready ").strip()

    def ask(self, lines):
        self.process.stdin.write(lines)
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def turn(self, seconds):
        images, wall, own, children = map(float, self.ask(f"{seconds}\n").split())
        self.turns.append(dict(zip(KEYS, (images / wall, 1000 * own / images, 1000 * children / images))))

    def medians(self):
        return {key: statistics.median(turn[key] for turn in self.turns) for key in KEYS}


def painted_photos():
    folder, part = BINARIES.parent / "bench-python-photos", BINARIES.parent / "bench-python-photos.part"
    if not folder.exists():
        shutil.rmtree(part, ignore_errors=True)
        subprocess.run([BINARIES / "make-photo-folder", part, "--images", "20"], check=True, stdout=sys.stderr)
        part.rename(folder)
    return folder


def main():
    parser = argparse.ArgumentParser(prog="bench-python", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of class folders with JPEGs; default: painted ones, made once")
    parser.add_argument("--workers", type=int, default=2, help="of each DataLoader, and of stokerd")
    parser.add_argument("--seconds", type=float, default=5, help="of a turn")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each way; the median counts")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    arguments = parser.parse_args()

    folder = arguments.data or painted_photos()
    files = sorted(file.absolute() for file in folder.glob("*/*") if file.suffix.lower() in (".jpg", ".jpeg"))
    ours = "stoker_peer.py", BINARIES / "stokerd", folder, arguments.workers
    theirs = "dataloader_peer.py", arguments.workers
    ways = {}
    try:
        for kind in ("uint8", "float32"):
            ways[f"stoker {kind}"] = Way(files, *ours, kind)
            ways[f"DataLoader {kind}"] = Way(files, *theirs, kind)
        ways["DataLoader float32-by-trainer"] = Way(files, *theirs, "float32-by-trainer")
        for _ in range(arguments.rounds):
            for way in ways.values():
                way.turn(arguments.seconds)
    finally:
        for way in ways.values():
            way.process.stdin.close()  # It ends what it started.
            way.process.wait()

    figures = {name: way.medians() for name, way in ways.items()}
    versions = " and ".join(dict.fromkeys(way.version for way in ways.values()))
    print(f"{versions}; {len(files)} JPEGs, RandomResizedCrop(224), RandomHorizontalFlip, batches of 64;")
    print(f"{os.cpu_count()} cores for all, {arguments.workers} workers; {arguments.rounds} rounds of {arguments.seconds:g} s\n")
    print(f"{'':31}{'images/s':>9}{'trainer, s/1000':>17}{'workers, s/1000':>17}   stoker is, of each")
    for name, way in figures.items():
        print(f"{name:31}{way[KEYS[0]]:9.0f}{way[KEYS[1]]:17.3f}{way[KEYS[2]]:17.3f}", end="")
        if name.startswith("stoker"):
            print()
            continue
        kind = "uint8" if "uint8" in name else "float32"
        for key in KEYS:  # In pairs, each of one round.
            pairs = zip(ways[f"stoker {kind}"].turns, ways[name].turns)
            way[f"stoker_is_{key}"] = statistics.median(our[key] / their[key] for our, their in pairs)
        print("   " + " / ".join(f"{way[f'stoker_is_{key}']:.2f}" for key in KEYS))
    if arguments.json:
        arguments.json.write_text(json.dumps({"bench": "python", "ways": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
