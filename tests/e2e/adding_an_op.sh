#!/usr/bin/env bash
# adding_an_op.sh WORK COMPILER: does what docs/adding-an-op.md says, in a copy of the tree under WORK. The changes that it
# shows apply; after the first one alone nothing compiles, for visit.h lacks the op; after all of them what is generated is
# fresh once it was written, and the tests of ops pass.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/replayed_page.sh"

replay_in "$1" "$here/../../docs/adding-an-op.md"
((${#changes[@]} >= 5)) || { echo "$page shows ${#changes[@]} changes, and should show them all"; exit 1; }
apply "${changes[0]}"
configure "$2"
fails_to_build stoker_ops 'kRandomResize[^d].*not handled in switch' "an op that visit.h lacks"

for change in "${changes[@]:1}"; do apply "$change"; done
python3 proto/generate_ops.py --check >/dev/null 2>&1 && { echo "what is generated was fresh before it was written"; exit 1; }
python3 proto/generate_ops.py
grep -q 'class RandomResize(' client/python/stoker/_ops.py
grep -q '| RandomResize |' docs/pipeline.md
cmake --build build --target ops_test
build/bin/ops_test --gtest_brief=1
