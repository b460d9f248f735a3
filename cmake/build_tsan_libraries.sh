#!/usr/bin/env bash
# build_tsan_libraries.sh [--where]: Debian's Abseil and gRPC with ThreadSanitizer, as shared libraries in a folder of the
# user's cache. With --where it only says which folder that is.
#
# ThreadSanitizer does not see how the packaged ones order threads: what an absl::Mutex guards, and what gRPC hands
# from one thread to another, would count as races. These are built from the sources of the installed versions under
# the packaged names, which they replace where they come first on the library path: programs of the preset tsan look there
# first. gRPC has the fixes of cmake/grpc. Takes 8 minutes on two cores, and nothing where those versions are there already.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/debian_sources.sh"

abseil=$(version_of libabsl-dev)
grpc=$(version_of libgrpc++-dev)
patches=$(realpath "$(dirname "${BASH_SOURCE[0]}")/grpc")
built=$cache/$(cat - "${BASH_SOURCE[0]}" "$patches"/*.patch <<<"$abseil $grpc" | named_after tsan)
if [[ ${1:-} == --where ]]; then
  echo "$built"
  exit
fi
enter "$built"
echo "Building Abseil $abseil and gRPC $grpc with ThreadSanitizer, once; it takes some ten minutes"
get_sources "abseil=$abseil" "grpc=$grpc"
patch_source grpc "$patches"

# build SOURCE TARGET [CMAKE-ARGUMENT...]
build() {
  build_with_cmake "$1" "$2" "-O1 -fsanitize=thread" -DBUILD_SHARED_LIBS=ON -DCMAKE_SKIP_RPATH=ON "${@:3}"
  find "$work/build/$1" -name '*.so*' -exec cp -P -t "$work/lib" {} +
}
build abseil all -DCMAKE_CXX_STANDARD=17
# The protobuf compiler's library is for gRPC's code generator, which is not built.
build grpc grpc++ -DgRPC_{ABSL,CARES,PROTOBUF,RE2,SSL,ZLIB}_PROVIDER=package -DProtobuf_PROTOC_LIBRARY=unused
leave "$built"
