#!/usr/bin/env bash
# build.sh CONTAINERFILE build|configure: what CONTAINERFILE copies, and nothing else of the repository, is
# configured with its own command and builds its target. `configure` ends before compilers run: then every source that
# the target needs is there, and perhaps a header is not. Runs in a new folder, as the container's build stage does.
set -euo pipefail

containerfile=$1 mode=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$containerfile: $*"
  exit 1
}

# The instructions of all stages but the last, one a line.
stage=$(sed -e '/^#/d' -e ':join' -e '/\\$/{N;s/\\\n//;b join}' "$containerfile" | awk '/^FROM scratch/ {exit} {print}')

while read -r -a words; do
  destination=$work/${words[-1]}
  for path in "${words[@]:1:${#words[@]}-2}"; do
    if [[ -d $source/$path ]]; then
      # A folder's content goes to the destination, which is made.
      mkdir -p "$destination"
      cp -a "$source/$path/." "$destination/"
    else
      cp -a "$source/$path" "$destination"
    fi
  done
done < <(grep '^COPY ' <<<"$stage")

command=$(sed -n 's/^RUN \(cmake .*\)/\1/p' <<<"$stage")
[[ $command =~ ^(cmake\ --preset\ ([a-z]+)[^\&]*)\ \&\&\ cmake\ --build\ .*--target\ ([a-z]+)$ ]] ||
  fail "this test does not understand how it builds: $command"
configure=${BASH_REMATCH[1]} build=$work/build/${BASH_REMATCH[2]} target=${BASH_REMATCH[3]}

# Objects that the repository's own build compiled are taken from ccache, whatever the folder's name.
export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
cd "$work"
if [[ $mode == configure ]]; then
  $configure --log-level=WARNING >/dev/null || fail "what it copies cannot be configured"
  ninja -C "$build" -n "$target" >/dev/null || fail "it does not copy all that $target is built of"
else
  bash -euc "$command" >"$work/log" 2>&1 || { tail -n 40 "$work/log" && fail "what it copies does not build"; }
  "$build/bin/$target" --version
fi
