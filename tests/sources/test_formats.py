"""test_formats.py BIN RUN FORMAT:PACKAGES...: each format on disk, over HTTP and in a bucket is one dataset, with one
fingerprint and one digest. The digest is that of the class folder that all were written from.

BIN has our programs. RUN runs write_shards.py for FORMAT in the environment of packages-PACKAGES.txt. The bucket is moto's,
and the HTTP server errs at a tenth of the requests. Prints what is wrong and exits with 1.
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile

from servers import bucket, epoch, http_server
from written import write_formats

BIN, RUN = pathlib.Path(sys.argv[1]), sys.argv[2]


def main() -> None:
    compared = []
    with tempfile.TemporaryDirectory() as work:
        made = write_formats(BIN, RUN, sys.argv[3:], pathlib.Path(work))
        root, photos, written, pipeline = made.root, made.photos, made.formats, made.pipeline
        _, digest = epoch(BIN, ["--data", str(photos)], {}, pipeline)
        with http_server(root) as http, bucket(root) as environment:
            for form in written:
                # HTTP cannot list, so the configuration has each name. One file of MDS and LMDB is enough.
                names = sorted(path.name for path in (root / form).iterdir())
                names = {"mds": ["index.json"], "lmdb": ["data.mdb"]}.get(form, names)
                paths = [f"{http.url}/{form}/{name}" for name in names]
                key = {"tar": "webdataset"}.get(form, form)
                config = pathlib.Path(work) / f"{form}.yaml"
                staged = {"raw_cache": {"disk": {"path": str(pathlib.Path(work) / "cache"), "size": "1GiB"}}}
                server = staged if form == "hdf5" else {}
                config.write_text(json.dumps({**server, "datasets": [{"name": form, key: {"path": paths}}]}))
                local = epoch(BIN, ["--data", str(root / form)], {}, pipeline)
                assert local[1] == digest, f"{form}: {local[1]}, where the class folder has {digest}"
                from_bucket = ["--data", f"s3://bucket/{form}/"]
                if server:
                    listed = pathlib.Path(work) / f"{form}-bucket.yaml"
                    listed.write_text(json.dumps({**server, "datasets": [{"data": f"s3://bucket/{form}/"}]}))
                    from_bucket = ["--config", str(listed)]
                for store, arguments, variables in (
                    ("HTTP", ["--config", str(config)], {}),
                    ("S3", from_bucket, environment),
                ):
                    found = epoch(BIN, arguments, variables, pipeline)
                    assert found == local, f"{form}, {store}: {found}, where the folder has {local}"
                compared.append(form)
                print(form, *local)
    print(f"{', '.join(compared)}: one dataset wherever they lie; {http.requests} requests over HTTP, {http.faults} met a fault")


main()
