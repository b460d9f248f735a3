#!/usr/bin/env bash
# adding_a_source.sh WORK COMPILER: does what docs/adding-a-source.md says, in a copy of the tree under WORK. The changes that
# it shows apply; after the first one alone nothing compiles, for the registry lacks the format; after all of them the new
# format and store pass their tests, the fuzz target its corpus, and the tree keeps its rules.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/replayed_page.sh"

replay_in "$1" "$here/../../docs/adding-a-source.md"
((${#changes[@]} >= 10)) || { echo "$page shows ${#changes[@]} changes, and should show them all"; exit 1; }
apply "${changes[0]}"
configure "$2"
fails_to_build server/read/CMakeFiles/stoker_read.dir/registry/open_dataset.cc.o 'kCifar.*not handled in switch' \
  "a format that the registry lacks"

for change in "${changes[@]:1}"; do apply "$change"; done
cmake --build build --target own_source_test fuzz-cifar tree_test
build/bin/own_source_test --gtest_brief=1
build/bin/fuzz-cifar --runs 10000 --seed 1 tests/fuzz/corpus/cifar
build/bin/tree_test --gtest_brief=1
