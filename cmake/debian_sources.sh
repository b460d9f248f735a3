# shellcheck shell=bash
# Sourced by build_*_libraries.sh: what rebuilding libraries of installed Debian packages from their own sources takes.
# Sources come from the machine's own Debian mirror through lists of our own: the system's files stay as they are.
#
#   enter CACHE NAME BUILT   ends the script, with CACHE/NAME leading to CACHE/BUILT, where that was built before;
#                            otherwise the script is alone here, and $work is an empty folder with a folder lib
#   get_sources SOURCE=VERSION...   unpacks them, patched, in $work/source
#   build_with_cmake SOURCE TARGET FLAGS [CMAKE-ARGUMENT...]   as debian/rules do, but for FLAGS, in $work/build/SOURCE
#   leave NAME BUILT         makes $work/lib CACHE/BUILT

# version_of PACKAGE: of the source that the installed PACKAGE was built from.
version_of() { dpkg-query -W -f='${source:Version}' "$1"; }

use_if_built() {
  [[ -d $cache/$2 ]] || return 0
  ln -sfn "$2" "$cache/$1"
  exit 0
}

enter() {
  mkdir -p "$1"
  cache=$(cd "$1" && pwd)
  use_if_built "$2" "$3"
  exec {lock}>"$cache/$2.lock"
  flock "$lock"
  use_if_built "$2" "$3"  # By who held the lock.
  work=$cache/$2.work
  rm -rf "$work"
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/source" "$work/lib"
  trap 'rm -rf "$work"' EXIT
}

get_sources() {
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg
  # The security archive last, which drops the sources of versions that a point release took over.
  # shellcheck disable=SC2016  # They are apt's variables.
  apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sort -u | sed -nE "s|^.* bookworm(-updates\|-security)? main\$|deb-src [signed-by=$keys] &|p" |
    sort -k4,4 >"$work/sources.list"
  local apt=(apt-get -q -o APT::Sandbox::User= -o "Dir::Etc::SourceList=$work/sources.list"
    -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache")
  "${apt[@]}" update
  (cd "$work/source" && "${apt[@]}" source "$@")
}

build_with_cmake() {
  local build=$work/build/$1
  cmake -S "$work/source/$1"-*/ -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS="$3" -DCMAKE_CXX_FLAGS="$3" "${@:4}" >/dev/null
  cmake --build "$build" --target "$2" -j "$(nproc)"
}

leave() {
  rm -rf "${cache:?}/$2"
  mv "$work/lib" "$cache/$2"
  ln -sfn "$2" "$cache/$1"
}
