"""With this folder in PYTHONPATH every Python process, whoever started it, adds to the file $STOKER_RECORD.RANK a line for
each batch that a loader which shuffles hands out: its epoch and its samples' ids.

A line is written before its batch is trained on, so that a program that is killed has told of all that it used. With
STOKER_HOLD_AT a loader that has written so many lines keeps its batch, until its process is killed: the moment of the kill
does not depend on how fast the machine is.
"""

import os
import time

import stoker


def record(file: str, hold_at: int) -> None:
    create, hand_out = stoker.Loader.__init__, stoker.Loader._hand_out

    def created(loader, *arguments, **options):
        loader.recorded = options.get("shuffle", True) is True
        loader.lines = 0
        create(loader, *arguments, **options)

    def handed_out(loader, batch):
        arrays = hand_out(loader, batch)
        if loader.recorded:
            with open(f"{file}.{loader.rank}", "a") as lines:
                print(loader.info.epoch, *loader.info.sample_ids, file=lines)
            loader.lines += 1
            while loader.lines == hold_at:
                time.sleep(1)
        return arrays

    stoker.Loader.__init__, stoker.Loader._hand_out = created, handed_out


if "STOKER_RECORD" in os.environ:
    record(os.environ["STOKER_RECORD"], int(os.environ.get("STOKER_HOLD_AT", 0)))
