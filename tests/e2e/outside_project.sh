#!/usr/bin/env bash
# outside_project.sh BUILD COMPILER FLAGS: what `cmake --install` makes of BUILD is a package that a project outside
# the repository finds, links and runs with, and that names neither the repository nor BUILD.
set -euo pipefail

build=$1 compiler=$2 flags=$3
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$build/outside_project
rm -rf "$work"

cmake --install "$build" --prefix "$work/prefix" >/dev/null
for path in bin/stokerd bin/stoker lib/systemd/system/stokerd.service share/stoker/stokerd.yaml; do
  [[ -s $work/prefix/$path ]] || { echo "$path is not installed" && exit 1; }
done
if grep -rF -e "$source" -e "$build" "$work/prefix/lib"*/cmake "$work/prefix/lib/"*/cmake 2>/dev/null; then
  echo "the installed package names a folder of this machine"
  exit 1
fi
cmake -S "$source/tests/integration/install" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_C_FLAGS="$flags" --log-level=WARNING
cmake --build "$work/build"
"$work/build/outside"
"$work/build/outside-c"
