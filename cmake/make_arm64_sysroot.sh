#!/usr/bin/env bash
# make_arm64_sysroot.sh [--where]: the arm64 libraries of Debian 12 that Stoker and its unit tests are linked with,
# unpacked into a folder of the user's cache. With --where it only says which folder that is.
#
# The preset arm64 compiles against it and runs programs in it under qemu. Packages come from the machine's own Debian mirror
# through lists of our own, and none is installed: the system stays as it is. Takes a minute.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/debian_sources.sh"

# No OpenCV: its packages need half a desktop. protobuf-compiler and its gRPC part only since CMake's files want to see them;
# those of this machine run.
readonly packages=(
  libc6-dev libstdc++-12-dev
  libgrpc++-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev libabsl-dev libssl-dev
  libcli11-dev libyaml-cpp-dev nlohmann-json3-dev libspng-dev libxxhash-dev librandom123-dev
  libspdlog-dev libjpeg62-turbo-dev libwebp-dev libhwy-dev libcurl4-openssl-dev zlib1g-dev libzstd-dev
  prometheus-cpp-dev libmicrohttpd-dev
  libgtest-dev libgmock-dev liblmdb-dev librapidcheck-dev
)
sysroot=$cache/$(named_after arm64 <"${BASH_SOURCE[0]}")
if [[ ${1:-} == --where ]]; then
  echo "$sysroot"
  exit
fi
enter "$sysroot"
echo "Unpacking arm64 libraries of Debian 12, once"
get_packages arm64 "${packages[@]}"
for package in "$work"/cache/archives/*.deb; do dpkg-deb --extract "$package" "$work/lib"; done
leave "$sysroot"
