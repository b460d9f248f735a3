#!/usr/bin/env bash
# get_arrow.sh [--where]: Arrow's C++ libraries with their headers, in a folder of the user's cache, for the program that
# reads Parquet. With --where it only says which folder that is.
#
# Debian 12 has no Arrow. The package pyarrow has the libraries, with an ABI that Debian's compiler links with, and the
# headers. One wheel is taken, whichever Python there is, and its hash is known. Takes a few seconds and 54 MB of network,
# and nothing where the folder is there already. There is none for machines other than x86-64.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cache_folder.sh"

version=26.0.0
hash=6e89dee53aaeb50505ed6152ea55bc7ddfd4f4df264f5427ea255288d8f0e580

arrow=$cache/$(cat "${BASH_SOURCE[0]}" | named_after arrow)
if [[ ${1:-} == --where ]]; then
  echo "$arrow"
  exit
fi
[[ $(uname -m) == x86_64 ]] || {
  echo "get_arrow.sh: there is no Arrow for $(uname -m): Parquet files cannot be read" >&2
  exit 1
}
[[ ! -d $arrow ]] || exit 0
alone "$arrow"
[[ ! -d $arrow ]] || exit 0
echo "Getting Arrow $version, once: 54 MB"
work=$(mktemp -d "$cache/arrow-work.XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/pip"
"$work/pip/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: --python-version 3.11 \
  --implementation cp --platform manylinux_2_28_x86_64 --dest "$work" --require-hashes \
  -r <(echo "pyarrow==$version --hash=sha256:$hash")
python3 -m zipfile -e "$work"/pyarrow-*.whl "$work/wheel"

mkdir -p "$work/arrow/include" "$work/arrow/lib"
cp -r "$work"/wheel/pyarrow/include/{arrow,parquet} "$work/arrow/include"
cp "$work"/wheel/pyarrow/lib{arrow,parquet}.so.[0-9]* "$work/arrow/lib"
find "$work/wheel" -path '*dist-info*' \( -name 'LICENSE*' -o -name 'NOTICE*' \) -exec cp {} "$work/arrow" \;
mv "$work/arrow" "$arrow"
