#!/usr/bin/env bash
# Installs the wheel in bare roots of other Debians, and reads an epoch there; --help says how.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: tests/e2e/other_debians.sh [--wheel FILE] [SUITE...]

Shows that the wheel needs nothing but Python and pip, and works with an older and a newer glibc than the one that it was
built with. For each SUITE, by default

  bullseye (Debian 11, glibc 2.31, Python 3.9) and trixie (Debian 13, glibc 2.41, Python 3.13),

it makes a minimal root with debootstrap, with Debian's Python, pip and NumPy, installs the wheel there with pip, and reads
an epoch as NumPy's arrays from a stokerd outside: its digest must be that of `stoker digest`. Before NumPy is installed it
reads a batch without. Takes some 2 minutes a suite.

  --wheel FILE  the wheel; by default it is made of build/release/lib/libstoker.so. stokerd and stoker are build/release's

Needs root and the package debootstrap. The mirror, proxies and host names are those of this machine's apt.
TEXT
}

die() {
  printf 'other_debians.sh: %s\n' "$*" >&2
  exit 1
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/debian_root.sh"
repository=$(cd "$here/../.." && pwd)
bin=$repository/build/release/bin
wheel=
while [[ ${1:-} == -* ]]; do
  case $1 in
    --wheel)
      wheel=$(realpath "${2:?}")
      shift 2
      ;;
    -h | --help)
      usage
      exit
      ;;
    *) die "unknown option $1; see --help" ;;
  esac
done
(($# > 0)) || set -- bullseye trixie
why=$(why_no_debian_root)
[[ -z $why ]] || die "$why"

work=$(mktemp -d "$repository/build/other-debians-XXXXXX")
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM
[[ $wheel ]] ||
  wheel=$(python3 "$repository/client/python/build_wheel.py" "$repository/build/release/lib/libstoker.so" "$work/wheel")

"$bin/make-photo-folder" "$work/photos" --classes 2 --images 20 --width 80 --height 60 >/dev/null
"$bin/stokerd" serve --data "$work/photos" --listen 127.0.0.1:0 --cache-dir "$work/cache" >"$work/address" 2>"$work/log" &
server=$!
until grep -q '^listening on' "$work/address"; do
  kill -0 "$server" || { cat "$work/log" >&2; exit 1; }
  sleep 0.05
done
address=$(sed -n 's/^listening on //p' "$work/address")
printf 'ops: [RandomResizedCrop: {size: 32}, RandomHorizontalFlip: ]\n' >"$work/pipeline.yaml"
digest=$("$bin/stoker" digest --servers "$address" --pipeline "$work/pipeline.yaml")

cat >"$work/program.py" <<'PYTHON'
import platform, sys
import stoker
from stoker import transforms as T

address, output = sys.argv[1:]
loader = stoker.Loader(address, batch_size=8, output=output, last_batch="partial",
                       transforms=[T.RandomResizedCrop(32), T.RandomHorizontalFlip()])
samples = sum(len(labels) if output == "numpy" else labels.shape[0] for _, labels in loader)
loader.set_epoch(0)
print(loader.digest(0), samples, output, "Python", platform.python_version(), *platform.libc_ver())
PYTHON

for suite; do
  root=$work/$suite
  echo "== $suite"
  make_debian_root "$suite" "$root"
  cp "$wheel" "$work/program.py" "$root/root"
  program="cd /root; PYTHONPATH=/opt/stoker python3 program.py $address"
  in_debian_root "$root" "export DEBIAN_FRONTEND=noninteractive
    apt-get -q update; apt-get -q install -y --no-install-recommends python3-pip" >"$work/log-$suite" 2>&1 ||
    { cat "$work/log-$suite" >&2; die "$suite: apt failed"; }
  in_debian_root "$root" "cd /root; python3 -m pip install -q --no-index --target /opt/stoker ./stoker-*.whl"
  in_debian_root "$root" "$program dlpack" | tee "$work/answer"
  in_debian_root "$root" "DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends python3-numpy" \
    >"$work/log-$suite" 2>&1 || { cat "$work/log-$suite" >&2; die "$suite: apt failed"; }
  in_debian_root "$root" "$program numpy" | tee -a "$work/answer"
  [[ $(grep -c "^$digest 40 " "$work/answer") == 2 ]] || die "$suite: not the digest of stoker digest, $digest"
  rm -rf --one-file-system "$root"
done
echo "The wheel $(basename "$wheel") works on: $*"
