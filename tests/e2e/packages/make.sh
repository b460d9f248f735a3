#!/usr/bin/env bash
# make.sh BUILD FOLDER: the Debian packages of what was built in BUILD are made, into FOLDER; lintian has nothing to say
# against them; and what they hold runs where it is unpacked. Exits with 77 where Debian's tools for that are missing.
set -euo pipefail

build=$1 folder=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
rm -rf "$folder"
for tool in dh dh_python3 help2man lintian; do
  command -v "$tool" >/dev/null || { echo "SKIPPED: this machine has no $tool; ./dev setup installs it" && exit 77; }
done
[[ -e $build/lib/stoker/stoker-parquet ]] || { echo "SKIPPED: there is no Arrow, which a package brings" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$*"
  exit 1
}

# Compressed lightly: it takes a third of the time.
DPKG_DEB_COMPRESSOR_LEVEL=0 "$source/dev" package --build "$build" "$folder"
lintian --fail-on error,warning "$folder"/*.deb

for package in "$folder"/*.deb; do dpkg-deb --extract "$package" "$work/root"; done
for path in usr/share/stoker/stokerd.yaml lib/systemd/system/stokerd.{service,socket} \
  usr/share/stoker/{credentials,python-ops}.conf \
  usr/lib/stoker/{libarrow.so.2600,stoker-audio.so,stoker-hdf5,stoker-opencv.so,stoker-parquet} usr/lib/libstoker.so \
  usr/include/stoker/client/{capi/stoker.h,loader/loader.h} usr/lib/cmake/stoker/stoker-config.cmake \
  usr/include/stoker/plugin/stoker_op.hpp usr/share/man/man1/stoker{d-serve,-digest}.1.gz \
  usr/share/doc/libstoker1/{copyright,changelog.gz,bundled/libssl-dev}; do
  [[ -e $work/root/$path ]] || fail "no package has $path"
done
for program in stokerd stoker; do
  [[ $(ldd "$work/root/usr/bin/$program") == *"$work/root/usr/bin/../lib/stoker/libgrpc.so.29"* ]] ||
    fail "$program finds another gRPC: $(ldd "$work/root/usr/bin/$program")"
done
[[ $("$work/root/usr/bin/stokerd" --version) == *"with Stoker's fixes"* ]] || fail "its gRPC has no fixes"
PYTHONPATH=$work/root/usr/lib/python3/dist-packages /usr/bin/python3 -m stoker >"$work/said" || fail "$(<"$work/said")"
grep -qF "$work/root/usr/lib/python3/dist-packages/stoker/libstoker.so" "$work/said" || fail "$(<"$work/said")"
