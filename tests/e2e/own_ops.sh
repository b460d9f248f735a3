#!/usr/bin/env bash
# own_ops.sh BUILD_DIR: builds examples/own_ops/fog.cc outside of the tree, against the installed headers alone, and serves
# with it: listed, explained, the same epoch from one server and from two, and refused where it is missing or another.
set -euo pipefail
build=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
servers=()
end() {
  kill "${servers[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT

fail() {
  echo "own_ops.sh: $*" >&2
  exit 1
}

# serve NAME ARGUMENT...: starts a server, and sets `address`.
serve() {
  local name=$1
  shift
  : >"$work/$name.out"
  "$build/bin/stokerd" serve --synthetic 64x48x3 --listen 127.0.0.1:0 "$@" >"$work/$name.out" 2>"$work/$name.log" &
  servers+=($!)
  for ((i = 0; i < 600; ++i)); do
    address=$(sed -n 's/^listening on //p' "$work/$name.out")
    [[ -z $address ]] || return 0
    sleep 0.1
  done
  fail "no server: $(<"$work/$name.log")"
}

# A folder of headers, as `cmake --install` leaves it.
cmake --install "$build" --prefix "$work/installed" --component plugin >"$work/install.log"
cp "$source/examples/own_ops/fog.cc" "$work"
c++ -std=c++17 -O2 -Wall -Wextra -Werror -shared -fPIC -I "$work/installed/include" -o "$work/libfog.so" "$work/fog.cc"
# A fog whose pixels are others, under the same version.
sed 's/256 \* draws/250 * draws/' "$work/fog.cc" >"$work/other.cc"
c++ -std=c++17 -O2 -shared -fPIC -I "$work/installed/include" -o "$work/libother.so" "$work/other.cc"

# Ops of the same structs, under other names: each library has statics of its own.
sed 's/"fog"/"mist"/; s/"halve"/"half"/; s/amount = 0.5/amount = 0.25/' "$work/fog.cc" >"$work/mist.cc"
c++ -std=c++17 -O2 -shared -fPIC -I "$work/installed/include" -o "$work/libmist.so" "$work/mist.cc"

cat >"$work/pipeline.yaml" <<'TEXT'
ops:
  - RandomResizedCrop: {size: 32}
  - fog: {amount: 0.9}
  - RandomApply: {p: 0.5, transforms: [{fog: {}}]}
  - halve:
TEXT
serve one --ops "$work/libfog.so" --ops "$work/libmist.so"
one=$address
serve two --ops "$work/libfog.so"
two=$address
serve other --ops "$work/libother.so"
other=$address
serve none
none=$address

stoker() { "$build/bin/stoker" "$@"; }
stoker list --servers "$one" >"$work/list"
grep -q '^fog  *1  blends with white, more so at the top$' "$work/list" || fail "not listed: $(<"$work/list")"
grep -q '^  - fog: {amount: 0.5}$' "$work/list" || fail "without arguments: $(<"$work/list")"
grep -q '^  - mist: {amount: 0.25}$' "$work/list" || fail "mixed up: $(<"$work/list")"
if stoker describe --servers "$one" --pipeline <(echo 'ops: [{fog: {amount: -1}}]') 2>"$work/refused"; then fail "took a wrong amount"; fi
grep -q 'fog: amount must be from 0 to 1' "$work/refused" || fail "not refused: $(<"$work/refused")"
stoker describe --explain --servers "$one" --pipeline "$work/pipeline.yaml" >"$work/explained"
grep -q "this server's own fog, version 1" "$work/explained" || fail "not explained: $(<"$work/explained")"

digest() { stoker digest --split "[:500]" --pipeline "$work/pipeline.yaml" --servers "$@" | tail -n 1; }
alone=$(digest "$one")
[[ $alone == *[0-9a-f]* && $(digest "$one,$two") == "$alone" ]] || fail "other digests: '$alone' and '$(digest "$one,$two")'"
# A job does without a server that refuses it, and says so.
for wrong in "$none|there is no op 'fog', and this server has no own ops" "$other|makes other pixels of the images of its self-check"; do
  stoker bench --batches 2 --pipeline "$work/pipeline.yaml" --servers "$one,${wrong%%|*}" >"$work/refused"
  grep -q "${wrong#*|}" "$work/refused" || fail "not refused: ${wrong#*|}: $(<"$work/refused")"
done
echo "own_ops.sh: $alone"
