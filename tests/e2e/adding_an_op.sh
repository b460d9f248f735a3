#!/usr/bin/env bash
# adding_an_op.sh WORK COMPILER: does what docs/adding-an-op.md says, in a copy of the tree under WORK. The changes that it
# shows apply; after the first one alone nothing compiles, for visit.h lacks the op; after all of them what is generated is
# fresh once it was written, and the tests of ops pass.
set -euo pipefail

work=$1 compiler=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
page=$source/docs/adding-an-op.md
command -v patch >/dev/null && command -v python3 >/dev/null || { echo "SKIPPED: there is no patch or no python3"; exit 77; }

rm -rf "$work/tree"
mkdir -p "$work/tree"
cd "$work/tree"
for path in CMakeLists.txt CMakePresets.json README.md LICENSE NOTICE .clang-format dev cmake proto common server client deploy \
  docs examples tests; do
  [[ ! -e $source/$path ]] || cp -r "$source/$path" .
done

# The page's blocks of changes, a file each.
awk -v folder="$work" '
  /^```diff$/ { file = sprintf("%s/change-%02d.diff", folder, ++count); inside = 1; printf "" > file; next }
  /^```$/ { inside = 0 }
  inside { print > file }' "$page"
changes=("$work"/change-*.diff)
((${#changes[@]} >= 5)) || { echo "$page shows ${#changes[@]} changes, and should show them all"; exit 1; }

export CCACHE_BASEDIR=$work/tree CCACHE_NOHASHDIR=1
apply() {
  patch -p0 --quiet --fuzz=0 <"$1" || {
    echo "docs/adding-an-op.md: a change does not fit the tree any more: correct its numbers and the lines around it. It is:"
    cat "$1"
    exit 1
  }
}
apply "${changes[0]}"
cmake --preset dev -B build -DSTOKER_CUDA=OFF -DSTOKER_SLOW_TESTS=OFF -DCMAKE_CXX_COMPILER="$compiler" --log-level=ERROR >/dev/null
if cmake --build build --target stoker_ops >first.log 2>&1 || ! grep -q 'kRandomShortestSize.*not handled in switch' first.log; then
  tail -n 20 first.log
  echo "an op that visit.h lacks compiles, or fails for another reason"
  exit 1
fi

for change in "${changes[@]:1}"; do apply "$change"; done
python3 proto/generate_ops.py --check >/dev/null 2>&1 && { echo "what is generated was fresh before it was written"; exit 1; }
python3 proto/generate_ops.py
grep -q 'class RandomShortestSize' client/python/stoker/_ops.py
grep -q '| RandomShortestSize |' docs/pipeline.md
cmake --build build --target ops_test
build/bin/ops_test --gtest_brief=1
