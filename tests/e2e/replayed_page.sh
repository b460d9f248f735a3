# shellcheck shell=bash
# Sourced by tests of pages that show changes to the tree as blocks of ```diff.

# replay_in WORK PAGE: copies the tree to WORK/tree and enters it; `changes` are then the page's blocks, a file each.
replay_in() {
  local work=$1 source path
  page=$2
  source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
  command -v patch >/dev/null && command -v python3 >/dev/null || { echo "SKIPPED: there is no patch or no python3"; exit 77; }
  rm -rf "$work/tree" "$work"/change-*.diff
  mkdir -p "$work/tree"
  cd "$work/tree" || exit 1
  for path in CMakeLists.txt CMakePresets.json README.md LICENSE NOTICE .clang-format dev cmake proto common server client deploy \
    docs examples tests; do
    [[ ! -e $source/$path ]] || cp -r "$source/$path" .
  done
  awk -v folder="$work" '
    /^```diff$/ { file = sprintf("%s/change-%02d.diff", folder, ++count); inside = 1; printf "" > file; next }
    /^```$/ { inside = 0 }
    inside { print > file }' "$page"
  # shellcheck disable=SC2034  # For who sources this.
  changes=("$work"/change-*.diff)
  export CCACHE_BASEDIR=$work/tree CCACHE_NOHASHDIR=1
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

# configure COMPILER
configure() {
  cmake --preset dev -B build -DSTOKER_CUDA=OFF -DSTOKER_SLOW_TESTS=OFF -DCMAKE_CXX_COMPILER="$1" --log-level=ERROR >/dev/null
}
