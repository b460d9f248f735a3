#!/usr/bin/env bash
# subproject.sh BUILD COMPILER FLAGS: a project outside the repository has Stoker's source as a part, by FetchContent, and
# links and runs its client. Compiles the client again, for the speed of that without optimization and with many files as
# one.
set -euo pipefail

build=$1 compiler=$2 flags=$3
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$build/subproject
rm -rf "$work"

export CCACHE_BASEDIR=$source CCACHE_NOHASHDIR=1
launcher=$(command -v ccache || true)
cmake -S "$source/tests/integration/subproject" -B "$work" -G Ninja -DSTOKER_SOURCE="$source" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_FLAGS="-O0 $flags" \
  -DCMAKE_UNITY_BUILD=ON --log-level=WARNING
cmake --build "$work" --target outside
if grep -q -- -Werror "$work/build.ninja"; then
  echo "warnings are errors in another's project"
  exit 1
fi
cmake --install "$work" --prefix "$work/prefix"
if [[ -e $work/prefix ]]; then
  echo "another's cmake --install lays down what is ours"
  exit 1
fi
"$work/outside"
