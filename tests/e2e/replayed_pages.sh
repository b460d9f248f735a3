#!/usr/bin/env bash
# replayed_pages.sh WORK COMPILER: does what docs/adding-an-op.md and then docs/adding-a-source.md say, in one copy of the tree
# under WORK. The changes that they show, as blocks of ```diff, apply; after the first one of a page nothing compiles, for what
# must know of all ops, or of all formats, lacks the new one; after all of them what is generated is fresh once it was written,
# the tests of ops and those of the new format and store pass, the fuzz target its corpus, and the tree keeps its rules.
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly source work=$1 compiler=$2
command -v patch >/dev/null && command -v python3 >/dev/null || { echo "SKIPPED: there is no patch or no python3"; exit 77; }

rm -rf "$work"
mkdir -p "$work/tree"
cd "$work/tree"
for path in CMakeLists.txt CMakePresets.json README.md LICENSE NOTICE .clang-format dev cmake proto common server client deploy \
  docs examples tests; do
  [[ ! -e $source/$path ]] || cp -r "$source/$path" .
done
export CCACHE_BASEDIR=$work/tree CCACHE_NOHASHDIR=1

# changes_of NAME LEAST: `changes` are then the blocks of the page docs/NAME.md, a file each.
changes_of() {
  page=docs/$1.md
  mkdir "$work/$1"
  awk -v folder="$work/$1" '
    /^```diff$/ { file = sprintf("%s/%02d.diff", folder, ++count); inside = 1; printf "" > file; next }
    /^```$/ { inside = 0 }
    inside { print > file }' "$source/$page"
  changes=("$work/$1"/*.diff)
  ((${#changes[@]} >= $2)) || { echo "$page shows ${#changes[@]} changes, and should show them all"; exit 1; }
}

# apply CHANGE: a hunk may have moved, but its lines must be those of the tree.
apply() {
  patch -p0 --quiet --fuzz=0 <"$1" || {
    echo "$page: a change does not fit the tree any more: correct its numbers and the lines around it. It is:"
    cat "$1"
    exit 1
  }
}

# fails_to_build TARGET MESSAGE WHAT: the target must not compile, and for that reason.
fails_to_build() {
  if cmake --build build --target "$1" >first.log 2>&1 || ! grep -q "$2" first.log; then
    tail -n 20 first.log
    echo "$3 compiles, or fails for another reason"
    exit 1
  fi
}

changes_of adding-an-op 5
apply "${changes[0]}"
# What is tested is whether it compiles and works, not how fast. Files compile together, for nothing of it is in the cache.
cmake --preset dev -B build -DSTOKER_CUDA=OFF -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 -DSTOKER_SLOW_TESTS=OFF --log-level=ERROR >/dev/null
fails_to_build stoker_ops 'kRandomResize[^d].*not handled in switch' "an op that visit.h lacks"
for change in "${changes[@]:1}"; do apply "$change"; done
python3 proto/generate_ops.py --check >/dev/null 2>&1 && { echo "what is generated was fresh before it was written"; exit 1; }
python3 proto/generate_ops.py
grep -q 'class RandomResize(' client/python/stoker/_ops.py
grep -q '| RandomResize |' docs/pipeline.md

changes_of adding-a-source 10
apply "${changes[0]}"
fails_to_build stoker_read 'kCifar.*not handled in switch' "a format that the registry lacks"
for change in "${changes[@]:1}"; do apply "$change"; done

cmake --build build --target ops_test own_source_test fuzz-cifar tree_test
build/bin/ops_test --gtest_brief=1
build/bin/own_source_test --gtest_brief=1
build/bin/fuzz-cifar --runs 10000 --seed 1 tests/fuzz/corpus/cifar
build/bin/tree_test --gtest_brief=1
