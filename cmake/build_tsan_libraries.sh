#!/usr/bin/env bash
# build_tsan_libraries.sh CACHE: Debian's Abseil and gRPC with ThreadSanitizer, as shared libraries in CACHE/tsan.
#
# ThreadSanitizer does not see how the packaged ones order threads: what an absl::Mutex guards, and what gRPC hands
# from one thread to another, would count as races. These are built from the sources of the installed versions under
# the packaged names, which they replace where they come first on the library path. Takes 8 minutes on two cores, and
# nothing where CACHE has those versions already. Sources come from the machine's own Debian mirror through lists of
# our own: the system's files stay as they are.
set -euo pipefail

mkdir -p "${1:?where to keep them}"
cache=$(cd "$1" && pwd)
abseil=$(dpkg-query -W -f='${source:Version}' libabsl-dev)
grpc=$(dpkg-query -W -f='${source:Version}' libgrpc++-dev)
built=tsan-$abseil-$grpc
if [[ -d $cache/$built ]]; then
  ln -sfn "$built" "$cache/tsan"
  exit
fi

echo "Building Abseil $abseil and gRPC $grpc with ThreadSanitizer, once; it takes some ten minutes"
work=$cache/tsan.work
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/source" "$work/lib"
trap 'rm -rf "$work"' EXIT

keys=/usr/share/keyrings/debian-archive-keyring.gpg
# shellcheck disable=SC2016  # They are apt's variables.
apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
  sort -u | sed -nE "s|^.* bookworm(-updates\|-security)? main\$|deb-src [signed-by=$keys] &|p" >"$work/sources.list"
apt=(apt-get -q -o APT::Sandbox::User= -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache")
"${apt[@]}" update
cd "$work/source"
"${apt[@]}" source "abseil=$abseil" "grpc=$grpc"

# build SOURCE TARGET [CMAKE-ARGUMENT...]: as debian/rules does, but for the sanitizer.
build() {
  local build=$work/build/$1 flags="-O1 -fsanitize=thread"
  cmake -S "$work/source/$1"-*/ -B "$build" -G Ninja --log-level=WARNING -DBUILD_SHARED_LIBS=ON -DCMAKE_SKIP_RPATH=ON \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" "${@:3}" >/dev/null
  cmake --build "$build" --target "$2" -j "$(nproc)"
  find "$build" -name '*.so*' -exec cp -P -t "$work/lib" {} +
}
build abseil all -DCMAKE_CXX_STANDARD=17
# The protobuf compiler's library is for gRPC's code generator, which is not built.
build grpc grpc++ -DgRPC_{ABSL,CARES,PROTOBUF,RE2,SSL,ZLIB}_PROVIDER=package -DProtobuf_PROTOC_LIBRARY=unused
mv "$work/lib" "$cache/$built"
ln -sfn "$built" "$cache/tsan"
