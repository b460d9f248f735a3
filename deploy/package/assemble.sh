#!/usr/bin/env bash
# assemble.sh BUILD FOLDER [VERSION]: makes Debian packages of what was built in BUILD, by Debian's own tools, and puts
# them into FOLDER, in place of those that are there. Equal builds give equal bytes. `./dev package` runs this.
#
# VERSION is the version of Debian's packages. By default it is the project's with the time of the last commit, in UTC,
# so that packages of later commits are upgrades: 0.1.0+20261125051955-0stoker1. What follows the hyphen says that they
# are not Debian's own, whose -1 would be newer.
set -euo pipefail

build=$(realpath "$1")
folder=$(realpath -m "$2")
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
project=$(sed -nE 's/^project\(stoker VERSION ([0-9.]+).*/\1/p' "$source/CMakeLists.txt")
time=$(git -C "$source" log -1 --format=%ct 2>/dev/null || stat -c %Y "$source/CMakeLists.txt")
version=${3:-$project+$(date -u -d "@$time" +%Y%m%d%H%M%S)-0stoker1}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/stoker-$project
mkdir "$tree"
cp -r "$source/deploy/package/debian" "$tree/"
cat >"$tree/debian/changelog" <<TEXT
stoker ($version) bookworm; urgency=medium

  * Packages of $(git -C "$source" log -1 --format='commit %H' 2>/dev/null || echo "a source without its history").

 -- $(sed -n 's/^Maintainer: //p' "$tree/debian/control")  $(date -u -R -d "@$time")
TEXT
cd "$tree"
log=$work/log
STOKER_SOURCE=$source STOKER_BUILD=$build STOKER_ARROW=$("$source/cmake/get_arrow.sh" --where) \
  DEB_BUILD_OPTIONS="noautodbgsym nocheck" \
  dpkg-buildpackage --build=binary --no-sign --no-check-builddeps >"$log" 2>&1 || {
  tail -n 40 "$log" >&2
  exit 1
}
# Of needless libraries those of glibc are meant: they were libraries of their own in the oldest one that libstoker.so
# runs with.
grep -E '^(dpkg-[a-z]+|dh[a-z_]*): warning' "$log" | grep -v 'could avoid a useless dependency' >&2 || true
mkdir -p "$folder"
rm -f "$folder"/{stoker-*,libstoker*,python3-stoker}_*.deb
mv "$work"/*.deb "$folder/"
