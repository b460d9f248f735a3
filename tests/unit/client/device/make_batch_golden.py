#!/usr/bin/env python3
"""Makes batch_golden.h: what torchvision's MixUp, CutMix and RandomErasing make of noise when they draw what Stoker
draws, which batch_golden_test.cc checks too. Needs torch and torchvision; was run with 2.15 and 0.29."""

import pathlib
import unittest.mock

import torch
from torchvision.transforms import v2

ROWS, CHANNELS, HEIGHT, WIDTH, CLASSES = 3, 3, 5, 7, 4
LABELS = [2, 0, 2]

# Drawn with seed 7 in epoch 3 by op 1: the batch's first position, λ.
MIX_UPS = [(100, "0x1.869fefd3c3819p-3"), (200, "0x1.36ccb9688233cp-1")]
# Likewise, λ before it is adjusted, and the center across and down.
CUT_MIXES = [(100, "0x1.f6dba8d2f1166p-5", 3, 1), (200, "0x1.cce78a45ee62cp-1", 0, 1),
             (300, "0x1.a83e69802bea3p-1", 1, 2), (400, "0x1.c6f7ba5078f81p-5", 4, 4)]
# By a sample's position: top, left, height, width.
ERASES = [(100, 1, 0, 3, 3), (101, 2, 3, 3, 1), (102, 2, 0, 2, 4)]
VALUE = [0.5, -1.0, 2.0]


def images():
    """The upper bytes of the linear congruential generator of Numerical Recipes, from 1, as N×H×W×C."""
    state, out = 1, []
    for _ in range(ROWS * HEIGHT * WIDTH * CHANNELS):
        state = (state * 1664525 + 1013904223) % 2**32
        out.append(state >> 24)
    return torch.tensor(out, dtype=torch.float32).reshape(ROWS, HEIGHT, WIDTH, CHANNELS).permute(0, 3, 1, 2).contiguous()


def shown(tensor):
    numbers = [value.hex() + "f" if value != int(value) else str(int(value)) for value in tensor.flatten().tolist()]
    lines, line = [], "    "
    for number in numbers:
        if len(line) + len(number) > 115:
            lines.append(line)
            line = "    "
        line += number + ", "
    return "\n".join(lines + [line])


def case(position, first, second):
    return f"    {{{position}, {{\n{shown(first)}\n    }}, {{\n{shown(second)}\n    }}}},"


def mix_up(position, drawn):
    mix = v2.MixUp(num_classes=CLASSES)
    with unittest.mock.patch.object(mix, "_dist") as dist:
        dist.sample.return_value = float.fromhex(drawn)
        return case(position, *mix(images(), torch.tensor(LABELS)))


def cut_mix(position, drawn, x, y):
    mix = v2.CutMix(num_classes=CLASSES)
    centers = iter([(WIDTH, x), (HEIGHT, y)])

    def randint(high, size):
        extent, center = next(centers)
        assert high == extent and size == (1,)
        return torch.tensor([center])

    with unittest.mock.patch.object(mix, "_dist") as dist, unittest.mock.patch("torch.randint", randint):
        dist.sample.return_value = float.fromhex(drawn)
        return case(position, *mix(images(), torch.tensor(LABELS)))


def erase(image, top, left, height, width):
    op = v2.RandomErasing(p=1, value=VALUE)
    params = dict(i=top, j=left, h=height, w=width, v=torch.tensor(VALUE)[:, None, None])
    with unittest.mock.patch.object(op, "make_params", return_value=params):
        return op(image)


def main():
    header = pathlib.Path(__file__).with_name("batch_golden.h")
    guard = "STOKER_TESTS_UNIT_CLIENT_DEVICE_BATCH_GOLDEN_H_"
    erased = torch.stack([erase(image, *box) for image, (_, *box) in zip(images(), ERASES)])
    cases = "\n".join
    header.write_text(f"""// Made by make_batch_golden.py: torchvision's floats, N×C×H×W, and labels, N×classes.
#ifndef {guard}
#define {guard}

#include <cstdint>
#include <vector>

namespace stoker {{

struct GoldenMix {{
  uint64_t first_position;
  std::vector<float> images, labels;
}};

inline constexpr int64_t kGoldenRows = {ROWS}, kGoldenHeight = {HEIGHT}, kGoldenWidth = {WIDTH};
inline constexpr int64_t kGoldenLabels[] = {{{", ".join(map(str, LABELS))}}};

// clang-format off
inline const GoldenMix kGoldenMixUps[] = {{
{cases(mix_up(*draw) for draw in MIX_UPS)}
}};

inline const GoldenMix kGoldenCutMixes[] = {{
{cases(cut_mix(*draw) for draw in CUT_MIXES)}
}};

inline const std::vector<float> kGoldenErased = {{
{shown(erased)}
}};
// clang-format on

}}  // namespace stoker

#endif  // {guard}
""")


if __name__ == "__main__":
    main()
