#!/usr/bin/env bash
# systemd_unit.sh BUILD: the systemd units that `cmake --install` and the bundle bring start the server that they bring, with
# the sample configuration beside it, and systemd itself has nothing to say against them and the drop-ins beside them, and
# rates their sandbox as tight. Exits with 77 where there is no systemd.
set -euo pipefail

build=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if ! command -v systemd-analyze >/dev/null; then
  echo "SKIPPED: this machine has no systemd-analyze"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$*"
  exit 1
}

# verify FOLDER [PROGRAM]: what systemd says of the units in FOLDER, with all drop-ins. PROGRAM stands in for ExecStart's,
# which is not there.
verify() {
  local units=$work/verified
  rm -rf "$units"
  mkdir -p "$units/stokerd.service.d"
  cp "$1"/lib/systemd/system/stokerd.* "$units"
  [[ -z ${2:-} ]] || sed -i -E "s|^ExecStart=[^ ]+|ExecStart=$2|" "$units/stokerd.service"
  # 0 is the tightest of 100; a service without any hardening gets 96.
  systemd-analyze security --offline=true --threshold=15 --no-pager "$units/stokerd.service"
  cp "$1"/share/stoker/*.conf "$units/stokerd.service.d"
  systemd-analyze security --offline=true --threshold=15 --no-pager "$units/stokerd.service" >"$work/looser"
  grep -q '^✗ MemoryDenyWriteExecute=' "$work/looser" || fail "the drop-in for ops in Python is not looked at"
  # What it says of other units, which these pull in, is for the machine's owner.
  if systemd-analyze verify "$units"/stokerd.{service,socket} 2>&1 | grep -F "$units/"; then fail "systemd finds fault with $1"; fi
}

# brings FOLDER PREFIX: FOLDER holds a server that is to be used at PREFIX, and its unit says so from first to last.
brings() {
  local unit=$1/lib/systemd/system/stokerd.service said
  grep -qx "ExecStart=$2/bin/stokerd serve --config /etc/stoker/stokerd.yaml" "$unit" || fail "$unit starts another program"
  grep -qF "$2/share/stoker/stokerd.yaml /etc/stoker/stokerd.yaml" "$unit" || fail "$unit names another configuration"
  if grep -F /usr/bin "$unit"; then fail "$unit names what is not there"; fi
  grep -qx "ListenStream=$(sed -n 's/^listen: //p' "$1/share/stoker/stokerd.yaml")" "${unit%service}socket" ||
    fail "the socket and the configuration have two addresses"
  said=$("${3:-$1/bin/stokerd}" check --config "$1/share/stoker/stokerd.yaml" 2>&1) && fail "there are no such datasets"
  [[ $said == *"dataset imagenet: image_folder.path: /srv/datasets/imagenet/train: No such file"* ]] || fail "$said"
}

cmake --install "$build" --component server --prefix "$work/prefix" >/dev/null
brings "$work/prefix" "$work/prefix"
verify "$work/prefix"

# Into a package: what is written is where it will be.
DESTDIR=$work/package cmake --install "$build" --component server --prefix /usr >/dev/null
cmp "$work/package/usr/lib/systemd/system/stokerd.service" "$source/deploy/systemd/stokerd.service"
[[ -x $work/package/usr/bin/stokerd && ! -e $work/package/etc ]] || fail "$(find "$work/package")"

# The bundle, but for what is linked into it.
grep -q '^"$source/deploy/bundle/service.sh" "$folder"$' "$source/deploy/bundle/assemble.sh"
"$source/deploy/bundle/service.sh" "$work/bundle"
brings "$work/bundle" /opt/stoker "$work/prefix/bin/stokerd"
verify "$work/bundle" "$work/prefix/bin/stokerd"
for path in lib/systemd/system/stokerd.service share/stoker/stokerd.yaml; do
  grep -qF "$path" "$source/deploy/bundle/README.md" || fail "the bundle's README does not tell of $path"
done
