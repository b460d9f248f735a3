#!/usr/bin/env bash
# bundle_roots.sh [BUNDLE]: what `./dev bundle` made (or BUNDLE, such a folder) runs in new, empty Debian 12 and 13: stokerd
# serves, stoker reads the same epoch as here, and a C program reads it through libstoker.so. Takes some minutes; needs root
# and debootstrap. The roots are removed afterwards.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/debian_root.sh"
repository=$(cd "$here/../.." && pwd)
bundle=${1:-$(ls -d "$repository"/build/bundle/stoker-*-x86_64)}
why=$(why_no_debian_root)
if [[ $why ]]; then
  echo "SKIPPED: $why"
  exit 77
fi
work=$(mktemp -d /tmp/stoker-bundle-roots.XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM

# It comes as a service, too: its unit is verified by systemd_unit.sh, without a bundle.
grep -q '^ExecStart=/opt/stoker/bin/stokerd ' "$bundle/lib/systemd/system/stokerd.service"
said=$("$bundle/bin/stokerd" check --config "$bundle/share/stoker/stokerd.yaml" 2>&1) || true
[[ $said == *'dataset imagenet: image_folder.path:'* ]] || { echo "$said"; exit 1; }

cc -o "$work/epoch-digest" -I"$repository" "$here/epoch_digest.c" -L"$bundle/lib" -lstoker

# Serves and reads one epoch; prints its digest by stoker and by the C program. A shell's commands, with the bundle in $1.
# shellcheck disable=SC2016
readonly epoch='
  work=$(mktemp -d)
  printf "datasets: [{name: noise, synthetic: {samples: 1000, fields: [{name: image, dtype: uint8, shape: [96, 96, 3], encoding: jpeg}]}}]\n" >$work/noise.yaml
  "$1/bin/stokerd" serve --config $work/noise.yaml --listen 127.0.0.1:0 >$work/stokerd.out 2>$work/stokerd.log &
  for ((i = 0; i < 200; ++i)); do
    address=$(sed -n "s/^listening on //p" $work/stokerd.out)
    [[ -z $address ]] && kill -0 $! 2>/dev/null || break
    sleep 0.1
  done
  [[ $address ]] || { cat $work/stokerd.log >&2; exit 1; }
  "$1/bin/stoker" digest --servers "$address" | grep -oE "[0-9a-f]{64}" | head -n 1
  LD_LIBRARY_PATH="$1/lib" "$2" "$address" 64 2>/dev/null
  kill -TERM $!
  wait $!
  rm -rf "$work"'

expected=$(bash -euc "$epoch" - "$bundle" "$work/epoch-digest")
echo "here: $expected"
for suite in bookworm trixie; do
  echo "== a new, empty Debian $suite"
  make_debian_root "$suite" "$work/$suite"
  cp -a "$bundle" "$work/$suite/opt/moved"  # Under another name: it is to be relocatable.
  cp "$work/epoch-digest" "$work/$suite/opt/"
  found=$(in_debian_root "$work/$suite" "set -- /opt/moved /opt/epoch-digest; $epoch")
  if [[ $found != "$expected" || $(sort -u <<<"$found" | wc -l) != 1 || -z $found ]]; then
    echo "there: $found"
    exit 1
  fi
  in_debian_root "$work/$suite" '! ls /usr/lib/x86_64-linux-gnu/libgrpc* 2>/dev/null' ||
    { echo "this root is not empty"; exit 1; }
  rm -rf --one-file-system "${work:?}/$suite"
done
echo "The bundle runs in both, with the same epochs"
