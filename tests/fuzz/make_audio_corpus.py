#!/usr/bin/env python3
"""Writes corpus/audio: a short clip in each form of audio that is read, in some that are not, and damaged ones.

Needs numpy and soundfile. Other versions of libsndfile write other bytes, which the unit tests pin: what is there stays.
"""

import io
import pathlib
import struct

import numpy as np
import soundfile

RATE, SAMPLES = 8000, 2400
CORPUS = pathlib.Path(__file__).parent / "corpus" / "audio"


def clip(channels):
    """Tones that fade, another one in each channel, as whole numbers of 16 bits."""
    t = np.arange(SAMPLES) / RATE
    tones = [0.6 * np.sin(2 * np.pi * 300 * (c + 1) * t) * np.exp(-5 * t) for c in range(channels)]
    return np.round(np.stack(tones, axis=-1) * 32768).astype(np.int16)


def encoded(file_format, subtype, channels=1, samples=SAMPLES):
    file = io.BytesIO()
    numbers = clip(channels)[:samples]
    soundfile.write(file, numbers / 32768 if subtype == "FLOAT" else numbers, RATE, format=file_format, subtype=subtype)
    return file.getvalue()


def changed(data, place, values):
    return data[:place] + bytes(values) + data[place + len(values):]


def main():
    CORPUS.mkdir(exist_ok=True)
    files = {
        "mono.wav": encoded("WAV", "PCM_16", samples=1200),
        "stereo.wav": encoded("WAV", "PCM_16", 2, 800),
        "bits8.wav": encoded("WAV", "PCM_U8", samples=500),
        "bits24.wav": encoded("WAV", "PCM_24", samples=500),
        "float.wav": encoded("WAV", "FLOAT", samples=500),
        "ulaw.wav": encoded("WAV", "ULAW", samples=500),
        "extensible.wav": encoded("WAVEX", "PCM_16", samples=300),
        "long.wav": encoded("RF64", "PCM_16", samples=300),
        "adpcm.wav": encoded("WAV", "IMA_ADPCM", samples=500),
        "mono.flac": encoded("FLAC", "PCM_16"),
        "stereo.flac": encoded("FLAC", "PCM_16", 2, 800),
        "bits24.flac": encoded("FLAC", "PCM_24", samples=500),
        "mono.ogg": encoded("OGG", "VORBIS"),
        "stereo.ogg": encoded("OGG", "VORBIS", 2),
        "opus.ogg": encoded("OGG", "OPUS", samples=400),
        "mono.mp3": encoded("MP3", "MPEG_LAYER_III"),
        "stereo.mp3": encoded("MP3", "MPEG_LAYER_III", 2),
        "other.aiff": encoded("AIFF", "PCM_16", samples=200),
    }
    for name in ["mono.wav", "mono.flac", "mono.ogg", "mono.mp3"]:
        stem, ending = name.split(".")
        files[f"cut_{stem}.{ending}"] = files[name][: len(files[name]) * 3 // 4]
    flac = files["mono.flac"]
    files["endless.flac"] = changed(flac, 21, [flac[21] | 0x0F, 0xFF, 0xFF, 0xFF, 0xFF])  # 2^36 − 1 samples
    files["unknown_length.flac"] = changed(flac, 21, [flac[21] & 0xF0, 0, 0, 0, 0])
    files["damaged.flac"] = changed(flac, len(flac) // 2, [0x55] * 8)
    files["damaged.ogg"] = changed(files["mono.ogg"], len(files["mono.ogg"]) - 200, [0x55] * 8)
    wav = files["mono.wav"]
    files["piped.wav"] = changed(changed(wav, 4, [0xFF] * 4), 40, [0xFF] * 4)
    files["many_channels.wav"] = changed(wav, 22, struct.pack("<HIIHH", 1000, RATE, RATE * 2000, 2000, 16))
    files["no_rate.wav"] = changed(wav, 24, [0] * 4)
    for name, data in files.items():
        (CORPUS / name).write_bytes(data)


if __name__ == "__main__":
    main()
