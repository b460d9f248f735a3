#!/usr/bin/env bash
# build_grpc.sh [--where]: Debian's gRPC core with the fixes of cmake/grpc/*.patch, as a shared library under its packaged
# name and as a static one, in a folder of the user's cache. With --where it only says which folder that is.
#
# Debian 12 has gRPC 1.51.1 as it was released, without the fixes that later releases got for hostile HTTP/2
# (docs/security.md). The patches touch few files: these, and those that include a header of theirs, are compiled from the
# source of the installed version and take their place among the packaged objects. All else, libgrpc++ too, is Debian's.
# Takes a minute or two on two cores, and nothing where the library is there already.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/debian_sources.sh"

patches=$(realpath "$(dirname "${BASH_SOURCE[0]}")/grpc")
grpc=$(version_of libgrpc++-dev)
built=$cache/$(cat - "${BASH_SOURCE[0]}" "$patches"/*.patch <<<"$grpc" | named_after grpc)
if [[ ${1:-} == --where ]]; then
  echo "$built"
  exit
fi
enter "$built"
echo "Building gRPC $grpc with the fixes of cmake/grpc, once; it takes a minute or two"
get_sources "grpc=$grpc"
cd "$work/source"/grpc-*/

patch_source grpc "$patches"
mapfile -t patched < <(sed -nE 's|^\+\+\+ b/(\S+).*|\1|p' "$patches"/*.patch)

# includers FILE...: the files, and those that include a header among them, directly or not.
includers() {
  local all before=
  all=$(printf '%s\n' "$@" | sort -u)
  while [[ $all != "$before" ]]; do
    before=$all
    all=$({
      echo "$all"
      grep '\.h$' <<<"$all" | sed 's|.*|#include "&"|' | grep -rlF -f - --include=*.cc --include=*.h src/core src/cpp || true
    } | sort -u)
  done
  echo "$all"
}
mapfile -t sources < <(includers "${patched[@]}" | grep '\.cc$')
if printf '%s\n' "${sources[@]}" | grep -v '^src/core/'; then
  echo "build_grpc.sh: a patched header reaches beyond gRPC's core, into the files above: these would have to be built too" >&2
  exit 1
fi

# As debian/rules have them: without NDEBUG, which would change the layout of some classes.
flags="-O2 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2 -std=c++14 -w -pthread"
for folder in . include src/core/ext/upb-generated src/core/ext/upbdefs-generated third_party/{address_sorting/include,upb,xxhash}; do
  flags+=" -I$folder"
done
# shellcheck disable=SC2016
printf '%s\n' "${sources[@]}" |
  xargs -P "$(nproc)" -I{} sh -c 'c++ $1 -c "$2" -o "$3/$(basename "$2").o"' - "$flags" {} "$work"

packaged=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
cp "$packaged/libgrpc.a" "$work/lib"
for source in "${sources[@]}"; do
  object=$(basename "$source").o
  [[ $(ar t "$packaged/libgrpc.a" | grep -cxF "$object") == 1 ]] || {
    echo "build_grpc.sh: $packaged/libgrpc.a has not one $object" >&2
    exit 1
  }
  ar r "$work/lib/libgrpc.a" "$work/$object"
done

# The shared library needs what the packaged one does.
name=$(readelf -d "$packaged/libgrpc.so" | sed -nE 's/.*SONAME.*\[(.*)\]/\1/p')
mapfile -t needed < <(readelf -d "$packaged/libgrpc.so" | sed -nE 's/.*NEEDED.*\[(.*)\]/-l:\1/p')
c++ -shared -o "$work/lib/$name" -Wl,-soname,"$name" -Wl,-z,relro -Wl,-z,defs \
  -Wl,--whole-archive "$work/lib/libgrpc.a" -Wl,--no-whole-archive "${needed[@]}"
ln -s "$name" "$work/lib/libgrpc.so"
leave "$built"
