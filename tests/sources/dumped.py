"""Reads what dump-samples writes, and makes images and numbers to write datasets of."""

from __future__ import annotations

import io
import json
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image


class Dumped:
    """A dataset as stokerd reads it: fingerprint, schema (texts by field), warnings, names and samples (dicts).

    Compressed shards are decompressed into the folder `staged`."""

    def __init__(self, program: str, config: dict | str, staged: Path | None = None) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "config.yaml"
            text = config if isinstance(config, str) else json.dumps({"name": "test", **config})  # JSON is YAML.
            path.write_text(text)
            run = subprocess.run([program, path, *([staged] if staged else [])], capture_output=True, check=False)
        self.error = run.stderr.decode().strip()
        if run.returncode != 0:
            return
        head, _, rest = run.stdout.partition(b"\n\n")
        self.fingerprint, count, *lines = head.decode().split("\n")
        self.warnings = [line for line in lines if line.startswith("warning: ")]
        self.schema = dict(line.split(" ", 1) for line in lines if not line.startswith("warning: "))
        self.names, self.samples = [], []
        stream = io.BytesIO(rest)
        for _ in range(int(count)):
            self.names.append(self._value(stream).decode())
            self.samples.append({name: self._typed(name, self._value(stream)) for name in self.schema})
        assert not stream.read(1)

    @staticmethod
    def _value(stream: io.BytesIO) -> bytes:
        return stream.read(int.from_bytes(stream.read(8), "little"))

    def _typed(self, name: str, value: bytes) -> bytes | np.ndarray:
        words = self.schema[name]
        if words in ("image", "text", "bytes"):
            return value
        is_rows = words.startswith("rows ")
        dtype, _, shape = words.removeprefix("rows ").partition(" ")
        rows = [-1] if is_rows else []
        return np.frombuffer(value, dtype).reshape(rows + json.loads(shape))


def expect_rows(program: str, config: dict, schema: dict[str, str], wanted: list[dict]) -> None:
    """Expects a dataset's fields and samples, whose arrays have a row for each element."""
    dumped = Dumped(program, config)
    expect(not dumped.error, dumped.error)
    expect_equal(dumped.schema, schema, "schema")
    expect_equal(len(dumped.samples), len(wanted), "samples")
    for i, (got, rows) in enumerate(zip(dumped.samples, wanted, strict=True)):
        for name, value in rows.items():
            expect_equal(got[name], value, f"{name} of sample {i}")


def documented(key: str, path: object) -> str:
    """The configuration of a format that docs/sources.md has, as YAML, with another path."""
    page = Path(__file__).parents[2] / "docs" / "sources.md"
    found = re.search(rf"`({key}: {{path: )([^,}}]+)([^`]*)`", page.read_text(encoding="utf-8"))
    expect(found is not None, f"docs/sources.md has no configuration of {key}")
    return f"name: test\n{found[1]}{path}{found[3]}\n"


def expect(condition: bool, what: object) -> None:
    if not condition:
        raise SystemExit(f"wrong: {what}")


def expect_equal(got: object, wanted: object, what: object) -> None:
    same = np.array_equal(got, wanted) if isinstance(got, np.ndarray) else got == wanted
    expect(bool(same), f"{what}: got {str(got)[:200]}, wanted {str(wanted)[:200]}")


def image(generator: np.random.Generator, kind: str) -> bytes:
    """An encoded image of noise of some size."""
    height, width = generator.integers(8, 40, 2)
    out = io.BytesIO()
    Image.fromarray(generator.integers(0, 256, (height, width, 3), dtype=np.uint8)).save(out, kind)
    return out.getvalue()
