"""A Containerfile's instructions, and what it copies."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


class Containerfile:
    """Its `stages` are lists of (instruction, value); what comes before the first FROM is `head`."""

    def __init__(self, path):
        self.path = path
        text = re.sub(r"^\s*#.*\n", "", path.read_text(encoding="utf-8"), flags=re.M)
        lines = [line.split(None, 1) for line in re.sub(r"\\\n", " ", text).splitlines() if line.strip()]
        self.head, self.stages = [], []
        for word, value in lines:
            if word == "FROM":
                self.stages.append([])
            (self.stages[-1] if self.stages else self.head).append((word, value.strip()))

    def last(self, word):
        """The values of an instruction in the last stage."""
        return [value for one, value in self.stages[-1] if one == word]

    def words(self, word):
        """Those of the one instruction that is a list of words, which needs no shell."""
        (value,) = self.last(word)
        return json.loads(value[value.index("[") :])

    def pairs(self, word):
        return dict(re.findall(r'([\w.]+)="?([^"\s]+|[^"]*)"?', " ".join(self.last(word))))

    def check(self):
        """Asserts that what it copies from the repository is there, and that the last stage needs no shell."""
        copied = [
            path
            for stage in self.stages
            for word, value in stage
            if word == "COPY" and value[0] != "-"
            for path in value.split()[:-1]
        ]
        assert copied, f"{self.path} copies nothing"
        for path in copied:
            assert list(ROOT.glob(path)), f"{self.path} copies {path}, which does not exist"
