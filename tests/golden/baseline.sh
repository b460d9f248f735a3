#!/usr/bin/env bash
# baseline.sh [--where]: builds stokerd, stoker and make-photo-folder as they were before the tree was rearranged in November
# 2026, once, in the user's cache, and prints the folder that they are in; with --where it only prints. Servers and clients
# of today must work with them: golden.sh shows it. Needs the repository's history.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/cmake/cache_folder.sh"
readonly commit=7eaed992
readonly root folder=$cache/baseline-$commit
readonly bin=$folder/build/dev/bin

if [[ ${1:-} == --where ]]; then
  echo "$bin"
  exit
fi
[[ -e $folder/done ]] || alone "$folder"
if [[ ! -e $folder/done ]]; then
  git -C "$root" cat-file -e "$commit^{commit}" 2>/dev/null || {
    echo "baseline.sh: this checkout has no history back to $commit; git fetch --unshallow brings it" >&2
    exit 1
  }
  echo "building the client and server of $commit, once; some minutes" >&2
  rm -rf "$folder"
  mkdir -p "$folder"
  git -C "$root" archive "$commit" | tar -x -C "$folder"
  (
    cd "$folder"
    export CCACHE_BASEDIR=$folder CCACHE_NOHASHDIR=1
    cmake --preset dev --log-level=NOTICE -DSTOKER_CUDA=OFF
    cmake --build --preset dev -j "$(nproc)" --target stokerd stoker make-photo-folder
    # Nothing else of the build is needed again.
    find build/dev -mindepth 1 -maxdepth 1 ! -name bin -exec rm -rf {} +
  ) >"$folder/log" 2>&1 || {
    tail -n 20 "$folder/log" >&2
    exit 1
  }
  touch "$folder/done"
fi
printf '%s\n' "$bin"
