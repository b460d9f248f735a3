#!/usr/bin/env python3
"""Makes audio_check_clips.h: a short clip in each format of audio. Needs numpy and soundfile.

Other clips give another audio check, so that servers of before and after do not serve one job.
"""

import io
import pathlib

import numpy as np
import soundfile

RATE, SAMPLES = 8000, 600


def clip():
    """Two tones that fade, and some noise."""
    t = np.arange(SAMPLES) / RATE
    tones = 0.5 * np.sin(2 * np.pi * 440 * t) + 0.3 * np.sin(2 * np.pi * 1230 * t * (1 + t))
    return np.clip(tones * np.exp(-8 * t) + np.random.default_rng(1).normal(0, 0.02, SAMPLES), -1, 1)


def encoded(file_format, subtype):
    file = io.BytesIO()
    soundfile.write(file, clip(), RATE, format=file_format, subtype=subtype)
    return file.getvalue()


CLIPS = {
    "WAV": encoded("WAV", "PCM_24"),
    "FLAC": encoded("FLAC", "PCM_16"),
    "OGG Vorbis": encoded("OGG", "VORBIS"),
    "MP3": encoded("MP3", "MPEG_LAYER_III"),
}


def main():
    entries = []
    for name, data in CLIPS.items():
        rows = "\n".join('     "' + data[i:i + 52].hex() + '"' for i in range(0, len(data), 52))
        entries.append(f'    {{"{name}",\n{rows}}},\n')
    guard = "STOKER_SERVER_AUGMENT_AUDIO_AUDIO_CHECK_CLIPS_H_"
    (pathlib.Path(__file__).parent / "audio_check_clips.h").write_text(
        f"// Made by make_audio_check_clips.py.\n#ifndef {guard}\n#define {guard}\n\n"
        "namespace stoker {\n\nstruct AudioCheckClip {\n  const char* name;\n  const char* file;  // in hexadecimal\n};\n\n"
        "inline constexpr AudioCheckClip kAudioCheckClips[] = {\n" + "".join(entries) +
        f"}};\n\n}}  // namespace stoker\n\n#endif  // {guard}\n")


if __name__ == "__main__":
    main()
