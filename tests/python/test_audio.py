"""Audio as the training loop gets it: whole files, and stretches of one rate."""

from __future__ import annotations

import io
import json
import tarfile
import wave
from math import gcd
from pathlib import Path
from subprocess import run

import numpy
import pytest
from conftest import BINARIES

import stoker
from stoker import Loader
from stoker import transforms as ours

CLIPS = Path(__file__).parents[1] / "fuzz" / "corpus" / "audio"
RATE = 8000  # Of all of them.
NAMES = ["mono.wav", "stereo.wav", "mono.flac", "stereo.flac", "mono.ogg", "mono.mp3"]


def samples_of(name):
    """The numbers of a clip, −1 to 1, its channels mixed, by Python's own reader; a FLAC has its WAV's."""
    with wave.open(str(CLIPS / name)) as file:
        numbers = numpy.frombuffer(file.readframes(file.getnframes()), "<i2")
        return numbers.reshape(-1, file.getnchannels()).astype(numpy.float64).mean(1) / 32768


def resampled(samples, rate, to):
    """What torchaudio.functional.resample makes of it, by the formula of its documentation, in float64."""
    common = gcd(rate, to)
    rate, to = rate // common, to // common
    base = min(rate, to) * 0.99
    width = int(numpy.ceil(6 * rate / base))
    place = numpy.arange(-width, width + rate) / rate
    time = (numpy.arange(0, -to, -1)[:, None] / to + place) * base
    time = time.clip(-6, 6)
    window = numpy.cos(time * numpy.pi / 6 / 2) ** 2
    kernels = numpy.sinc(time) * window * base / rate
    padded = numpy.concatenate([numpy.zeros(width), samples, numpy.zeros(width + rate)])
    steps = [padded[start : start + 2 * width + rate] @ kernels.T for start in range(0, len(samples) + 1, rate)]
    return numpy.concatenate(steps)[: -(-to * len(samples) // rate)]


@pytest.fixture(scope="module")
def clips(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clips")
    with tarfile.open(folder / "clips.tar", "w") as shard:
        for number, name in enumerate(NAMES):
            for extension, content in {"audio": (CLIPS / name).read_bytes(), "cls": str(number).encode()}.items():
                member = tarfile.TarInfo(f"{number:04}.{extension}")
                member.size = len(content)
                shard.addfile(member, io.BytesIO(content))
    datasets = []
    for name, more in {
        "int16": {},
        "float16": {"dtype": "float16"},
        "known": {"sample_rate": RATE},
        "stereo": {"channels": 2},
    }.items():
        audio = {"from": "audio", "kind": "audio", "max_bytes": "16KiB", **more}
        datasets.append({"name": name, "webdataset": {"path": str(folder), "fields": {"audio": audio, "label": "cls"}}})
    (folder / "stokerd.yaml").write_text(json.dumps({"datasets": datasets}))
    return folder / "stokerd.yaml"


@pytest.fixture
def served(clips, start_server):
    return start_server("--config", clips)


def batch_of(server, dataset="int16", ops=None, **options):
    options = {"shuffle": False, "output": "numpy", "as_dict": True, "transforms": ops, **options}
    with Loader(server.address, dataset=dataset, batch_size=len(NAMES), **options) as loader:
        return next(iter(loader)), loader.description["fields"][0]


def test_files_come_whole_without_a_pipeline(served):
    batch, field = batch_of(served)
    audio = batch["audio"]
    assert isinstance(audio, stoker.Ragged) and audio.kind == "audio" and audio.sample_rate is None
    assert audio.values.dtype == numpy.int16 and audio.values.shape[1:] == (1,)
    assert field["kind"] == "audio" and "sample_rate" not in field
    assert audio.lengths.tolist() == [1200, 800, 2400, 800, 2400, 2400]
    for index, name in enumerate(["mono.wav", "stereo.wav"]):
        assert numpy.array_equal(audio[index][:, 0], numpy.rint(samples_of(name) * 32768))
        assert numpy.array_equal(audio[index], audio[index + 2][: len(audio[index])]), "the FLAC is equal"
    assert batch["label"].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_rate_that_is_known_is_told(served):
    batch, field = batch_of(served, "known")
    assert batch["audio"].sample_rate == field["sample_rate"] == RATE


def test_halves_are_the_nearest(served):
    whole, halves = batch_of(served)[0]["audio"], batch_of(served, "float16")[0]["audio"]
    assert halves.values.dtype == numpy.float16
    for index in (0, 2):  # The mean of two channels lies between two numbers of int16, and is not rounded to one first.
        assert numpy.array_equal(halves[index], (whole[index] / 32768).astype(numpy.float16))


def test_a_file_with_other_channels_is_a_bad_sample(served):
    with pytest.raises(stoker.DataLossError, match="field 'audio': has 1 channels.*channels: 2"):
        batch_of(served, "stereo")


@pytest.mark.parametrize("rate", [16000, 11025, 6000])
def test_resampling_is_torchaudios_to_the_last_bit_of_int16(served, rate):
    batch, field = batch_of(served, ops=[ours.Resample(rate)])
    assert batch["audio"].sample_rate == field["sample_rate"] == rate
    for index, name in enumerate(["mono.wav", "stereo.wav"]):
        expected = resampled(samples_of(name), RATE, rate) * 32768
        assert batch["audio"][index].shape == (len(expected), 1)
        assert abs(batch["audio"][index][:, 0] - expected).max() <= 0.5 + 1e-6


def test_torchaudio_agrees(served):
    torch, torchaudio = pytest.importorskip("torch"), pytest.importorskip("torchaudio")
    audio = batch_of(served, ops=[ours.Resample(11025)])[0]["audio"]
    expected = torchaudio.functional.resample(torch.from_numpy(samples_of("mono.wav")), RATE, 11025).numpy() * 32768
    assert abs(audio[0][:, 0] - expected).max() <= 0.5 + 1e-4


def test_stretches_are_one_array_of_floats(served):
    ops = [
        ours.Resample(16000),
        ours.RandomAudioCrop(2000),
        ours.ToDtype("float32", scale=True, field="audio"),
    ]
    batch, field = batch_of(served, ops=ops)
    whole = batch_of(served, ops=ops[:1])[0]["audio"]
    assert batch["audio"].shape == (len(NAMES), 2000, 1) and batch["audio"].dtype == numpy.float32
    assert "kind" not in field and field["sample_rate"] == 16000
    for stretch, all_of_it in zip(batch["audio"], whole):
        all_of_it = (all_of_it / 32768).astype(numpy.float32)
        if len(all_of_it) < 2000:
            expected = numpy.concatenate([all_of_it, numpy.zeros((2000 - len(all_of_it), 1))])
            assert numpy.array_equal(stretch, expected)
        else:
            places = numpy.lib.stride_tricks.sliding_window_view(all_of_it[:, 0], 2000)
            assert (places == stretch[:, 0]).all(1).any()


def test_the_middle_is_taken_where_it_is_asked_for(served):
    center = batch_of(served, ops=[ours.RandomAudioCrop(100, center=True)])[0]["audio"]
    whole = batch_of(served)[0]["audio"]
    for stretch, all_of_it in zip(center, whole):
        start = (len(all_of_it) - 100) // 2
        assert numpy.array_equal(stretch, all_of_it[start : start + 100])


def test_damage_names_sample_and_field(clips, start_server, tmp_path):
    with tarfile.open(tmp_path / "bad.tar", "w") as shard:
        member = tarfile.TarInfo("a.wav")
        content = (CLIPS / "cut_mono.wav").read_bytes()
        member.size = len(content)
        shard.addfile(member, io.BytesIO(content))
    audio = {"from": "wav", "kind": "audio", "max_bytes": "16KiB"}
    config = {"datasets": [{"name": "bad", "webdataset": {"path": str(tmp_path), "fields": {"audio": audio}}}]}
    (tmp_path / "stokerd.yaml").write_text(json.dumps(config))
    server = start_server("--config", tmp_path / "stokerd.yaml")
    with pytest.raises(stoker.DataLossError, match="sample 'a'.*field 'audio': the audio ends early"):
        with Loader(server.address, batch_size=1) as loader:
            next(iter(loader))
    scan = [BINARIES / "stokerd", "scan", "--config", tmp_path / "stokerd.yaml", "--cache-dir", tmp_path / "scan"]
    assert "truncated: a (id 0): audio: the audio ends early" in run(scan, capture_output=True, text=True).stdout
