"""test_formats.py BIN RUN FORMAT:PACKAGES...: each format on disk, over HTTP and in a bucket is one dataset, with one
fingerprint and one digest. The digest is that of the class folder that all were written from.

BIN has our programs. RUN runs write_shards.py for FORMAT in the environment of packages-PACKAGES.txt. The bucket is moto's,
and the HTTP server errs at a tenth of the requests. Prints what is wrong and exits with 1.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile

from servers import Erring, bucket, epoch, http_server

BIN, RUN = pathlib.Path(sys.argv[1]), sys.argv[2]
HERE = pathlib.Path(__file__).parent


def write(form: str, packages: str, photos: pathlib.Path, out: pathlib.Path) -> bool:
    listed = HERE / f"packages-{packages}.txt"
    written = subprocess.run([RUN, listed, HERE / "write_shards.py", form, photos, out], check=False)
    assert written.returncode in (0, 77), f"{form}: not written"
    return written.returncode == 0


def main() -> None:
    compared = []
    with tempfile.TemporaryDirectory() as work:
        root = pathlib.Path(work) / "root"
        photos = pathlib.Path(work) / "photos"
        make = ["--classes", "3", "--images", "60", "--width", "96", "--height", "64"]
        subprocess.run([BIN / "make-photo-folder", photos, *make], check=True, stdout=subprocess.DEVNULL)
        formats = dict(argument.split(":") for argument in sys.argv[3:])
        written = [form for form, packages in formats.items() if write(form, packages, photos, root / form)]
        if not written:
            print("SKIPPED: no format's writer could be installed")
            sys.exit(77)
        pipeline = pathlib.Path(work) / "pipeline.yaml"
        pipeline.write_text("{ops: [{random_resized_crop: {size: [32]}}]}")
        _, digest = epoch(BIN, ["--data", str(photos)], {}, pipeline)
        with http_server(root) as http, bucket(root) as environment:
            for form in written:
                # HTTP cannot list, so the configuration has each name. One file of MDS and LMDB is enough.
                names = sorted(path.name for path in (root / form).iterdir())
                names = {"mds": ["index.json"], "lmdb": ["data.mdb"]}.get(form, names)
                paths = [f"{http}/{form}/{name}" for name in names]
                key = {"tar": "webdataset"}.get(form, form)
                config = pathlib.Path(work) / f"{form}.yaml"
                config.write_text(json.dumps({"datasets": [{"name": form, key: {"path": paths}}]}))
                local = epoch(BIN, ["--data", str(root / form)], {}, pipeline)
                assert local[1] == digest, f"{form}: {local[1]}, where the class folder has {digest}"
                for store, arguments, variables in (
                    ("HTTP", ["--config", str(config)], {}),
                    ("S3", ["--data", f"s3://bucket/{form}/"], environment),
                ):
                    found = epoch(BIN, arguments, variables, pipeline)
                    assert found == local, f"{form}, {store}: {found}, where the folder has {local}"
                compared.append(form)
                print(form, *local)
    print(f"{', '.join(compared)}: one dataset wherever they lie; {Erring.requests} requests over HTTP, a tenth met a fault")


main()
