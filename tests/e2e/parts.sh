#!/usr/bin/env bash
# parts.sh SOURCE BUILD COMPILER: the server and the client are each configured alone, where nothing of what only the other
# needs can be found, and have their programs; likewise the server without the module for OpenCV.
set -euo pipefail

source=$1 build=$2 compiler=$3
work=$build/parts

# configure NAME ARGUMENT...
configure() {
  rm -rf "${work:?}/$1"
  cmake -S "$source" -B "$work/$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$compiler" \
    --log-level=WARNING --no-warn-unused-cli "${@:2}" >/dev/null
}

# has NAME TARGET: ninja knows it, with all the files that it is built of.
has() { ninja -C "$work/$1" -n "$2" >/dev/null; }

# lacks NAME TARGET
lacks() {
  if has "$1" "$2" 2>/dev/null; then
    echo "$1 alone should not have $2"
    exit 1
  fi
}

without=()
for package in OpenCV hwy JPEG spdlog GTest rapidcheck; do without+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"); done
configure client -DSTOKER_BUILD_SERVER=OFF "${without[@]}"
has client stoker
has client stoker_capi
lacks client stokerd

configure server -DSTOKER_BUILD_CLIENT=OFF -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON
has server stokerd
has server stoker-opencv
has server stoker-audio
lacks server stoker

configure plain -DSTOKER_BUILD_CLIENT=OFF -DSTOKER_OPENCV=OFF -DCMAKE_DISABLE_FIND_PACKAGE_OpenCV=ON -DSTOKER_AUDIO=OFF
has plain stokerd
lacks plain stoker-opencv
lacks plain stoker-audio
