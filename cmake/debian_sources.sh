# shellcheck shell=bash
# Sourced by build_*_libraries.sh: what rebuilding libraries of installed Debian packages from their own sources takes.
# Sources come from the machine's own Debian mirror through lists of our own: the system's files stay as they are.
#
#   enter FOLDER             ends the script where FOLDER is there already; otherwise the script is alone in making it, and
#                            $work is an empty folder with a folder lib
#   get_sources SOURCE=VERSION...   unpacks them, patched, in $work/source
#   patch_source SOURCE FOLDER   applies FOLDER/*.patch to $work/source/SOURCE-*
#   get_packages ARCHITECTURE PACKAGE...   them and all that they need, as files in $work/cache/archives
#   build_with_cmake SOURCE TARGET FLAGS [CMAKE-ARGUMENT...]   as debian/rules do, but for FLAGS, in $work/build/SOURCE
#   leave FOLDER             makes $work/lib FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/cache_folder.sh"

# version_of PACKAGE: of the source that the installed PACKAGE was built from.
# shellcheck disable=SC2016  # The variables are dpkg-query's.
is_installed() { [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null) == ii* ]]; }
version_of() { dpkg-query -W -f='${source:Version}' "$1"; }

enter() {
  [[ ! -d $1 ]] || exit 0
  alone "$1"
  [[ ! -d $1 ]] || exit 0  # By who held the lock.
  work=$1.work
  rm -rf "$work"
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/source" "$work/lib"
  trap 'rm -rf "$work"' EXIT
}

# use_mirror TYPE [OPTION...]: sets `apt` to an apt-get with lists of its own, of TYPE deb or deb-src, and brings them.
use_mirror() {
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg
  # The security archive last, which drops the sources of versions that a point release took over.
  # shellcheck disable=SC2016  # They are apt's variables.
  apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sort -u | sed -nE "s|^.* bookworm(-updates\|-security)? main\$|$1 [signed-by=$keys] &|p" |
    sort -k4,4 >"$work/sources.list"
  apt=(apt-get -q -o APT::Sandbox::User= -o "Dir::Etc::SourceList=$work/sources.list"
    -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" "${@:2}")
  "${apt[@]}" update
}

get_sources() {
  local apt
  use_mirror deb-src
  (cd "$work/source" && "${apt[@]}" source "$@")
}

patch_source() {
  local file
  for file in "$2"/*.patch; do patch -d "$work/source/$1"-*/ -p1 <"$file"; done
}

get_packages() {
  local apt
  : >"$work/status"  # As if nothing were installed.
  use_mirror deb -o "APT::Architecture=$1" -o "APT::Architectures=$1" -o "Dir::State::Status=$work/status"
  "${apt[@]}" install -y --download-only --no-install-recommends "${@:2}"
}

build_with_cmake() {
  local build=$work/build/$1
  cmake -S "$work/source/$1"-*/ -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS="$3" -DCMAKE_CXX_FLAGS="$3" "${@:4}" >/dev/null
  cmake --build "$build" --target "$2" -j "$(nproc)"
}

leave() { mv "$work/lib" "$1"; }
