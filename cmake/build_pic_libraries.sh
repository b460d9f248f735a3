#!/usr/bin/env bash
# build_pic_libraries.sh [--where]: the static libraries that libstoker.so and the bundle's programs are linked from, in a
# folder of the user's cache. Takes a minute, and nothing where those of the installed versions are there already. With
# --where it only says which folder that is.
#
# Debian compiles its static libraries for position-independent programs. A shared library can take them too, if it binds
# their symbols to itself, but for objects that reach thread-local variables, or libc's stderr, in the way that only a
# program can: these are compiled again from the sources of the installed versions, and take their place in copies. The
# linker says where one is missing, and tests/e2e/elf_needs.sh where one would have the library loaded with the program or
# not at all (DF_STATIC_TLS). Five more libraries, which the programs need and Debian has as shared ones only, are built
# whole, and so are libcurl and libmicrohttpd, of which the packaged static ones want too many others.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/debian_sources.sh"

readonly packaged=/usr/lib/x86_64-linux-gnu
# By package, the sources that are needed; then those whose libraries are taken as they are.
sources=(
  abseil="$(version_of libabsl-dev)"
  libspng="$(version_of libspng-dev)"
  protobuf="$(version_of libprotobuf-dev)"
  re2="$(version_of libre2-dev)"
  xxhash="$(version_of libxxhash-dev)"
)
as_they_are=(libgrpc++-dev libc-ares-dev libssl-dev libyaml-cpp-dev zlib1g-dev)
# What only the server's programs are linked from: a machine that builds the client alone lacks it.
with_server=
if is_installed libhwy-dev && is_installed libspdlog-dev && is_installed libcurl4-openssl-dev &&
  is_installed prometheus-cpp-dev && is_installed libmicrohttpd-dev; then
  with_server=yes
  sources+=(
    curl="$(version_of libcurl4-openssl-dev)"
    fmtlib="$(version_of libfmt-dev)"
    highway="$(version_of libhwy-dev)"
    libmicrohttpd="$(version_of libmicrohttpd-dev)"
    prometheus-cpp="$(version_of prometheus-cpp-dev)"
    spdlog="$(version_of libspdlog-dev)"
  )
  as_they_are+=(libjpeg62-turbo-dev libwebp-dev)
fi
# Whose core has the fixes of cmake/grpc.
grpc=$("$(dirname "${BASH_SOURCE[0]}")/build_grpc.sh" --where)
built=$cache/$({
  echo "${sources[*]} $grpc"
  for package in "${as_they_are[@]}"; do version_of "$package"; done
  cat "${BASH_SOURCE[0]}"
} | named_after pic)
if [[ ${1:-} == --where ]]; then
  echo "$built"
  exit
fi
"$(dirname "${BASH_SOURCE[0]}")/build_grpc.sh"
enter "$built"
echo "Building static libraries for libstoker.so and the bundle, once; it takes a minute or two"
get_sources "${sources[@]}"

for library in absl_\* protobuf re2 grpc++_reflection grpc++ grpc gpr upb address_sorting cares ssl crypto yaml-cpp z \
  ${with_server:+jpeg webp}; do
  # shellcheck disable=SC2086  # A pattern.
  ln -s "$packaged"/lib$library.a "$work/lib"
done

ln -sf "$grpc/libgrpc.a" "$work/lib"

readonly flags="-O2 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2"

# renew LIBRARY SOURCE INCLUDE FILE...: a copy of the packaged LIBRARY, of which each FILE is compiled again. Its members
# may be called FILE's name with or without its ending.
renew() {
  local library=$work/lib/lib$1.a folder file member
  folder=$(echo "$work/source/$2"-*/)
  rm "$library"
  cp "$packaged/lib$1.a" "$library"
  # shellcheck disable=SC2086  # Flags.
  printf '%s\n' "${@:4}" | xargs -P "$(nproc)" -I{} sh -c \
    'c++ -w $1 -std=c++17 -pthread -I"$2$3" -c "$2$4" -o "$5/$(basename "$4" .cc).o"' - "$flags" "$folder" "$3" {} "$work"
  for file in "${@:4}"; do
    member=$(ar t "$library" | grep -xE "$(basename "$file" .cc)(\.cc)?\.o")
    [[ $member == "$(basename "$file" .cc).o" ]] || mv "$work/$(basename "$file" .cc).o" "$work/$member"
    ar r "$library" "$work/$member"
  done
}
renew absl_base abseil . absl/base/internal/sysinfo.cc
renew absl_cord abseil . absl/strings/cord.cc
renew absl_cordz_functions abseil . absl/strings/internal/cordz_functions.cc
renew absl_random_internal_pool_urbg abseil . absl/random/internal/pool_urbg.cc
renew absl_raw_hash_set abseil . absl/container/internal/raw_hash_set.cc
renew absl_str_format_internal abseil . absl/strings/internal/str_format/parser.cc
renew protobuf protobuf src src/google/protobuf/{any,arena,descriptor,dynamic_message,extension_set_heavy}.cc \
  src/google/protobuf/{generated_message_reflection,map_field,message,reflection_ops,repeated_field}.cc \
  src/google/protobuf/{repeated_ptr_field,stubs/common,text_format,wire_format}.cc
# All that Debian's source has: its tables are made when it is built.
renew re2 re2 . re2/{bitstate,compile,dfa,filtered_re2,mimics_pcre,nfa,onepass,parse,prefilter,prefilter_tree,re2,regexp,set}.cc \
  re2/{simplify,tostring}.cc

# The packaged one lacks the half that chooses by the CPU, which the shared library has.
(
  cd "$work/source"/xxhash-*/
  # shellcheck disable=SC2086
  cc $flags -c xxhash.c xxh_x86dispatch.c
  ar rcs "$work/lib/libxxhash.a" xxhash.o xxh_x86dispatch.o
)

# build SOURCE TARGET [CMAKE-ARGUMENT...]
build() {
  build_with_cmake "$1" "$2" "$flags" -DBUILD_SHARED_LIBS=OFF "${@:3}"
  find "$work/build/$1" -name '*.a' -exec cp -t "$work/lib" {} +
}
build libspng spng_static -DBUILD_EXAMPLES=OFF
if [[ $with_server ]]; then
  # HTTP alone: what the packaged library has beyond it wants twenty libraries more.
  build curl libcurl -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF -DENABLE_MANUAL=OFF -DHTTP_ONLY=ON -DCURL_USE_OPENSSL=ON \
    -DCURL_ZLIB=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DUSE_NGHTTP2=OFF -DUSE_LIBIDN2=OFF -DCURL_USE_LIBSSH2=OFF \
    -DCURL_USE_LIBPSL=OFF
  build fmtlib fmt -DFMT_TEST=OFF -DFMT_DOC=OFF
  build highway hwy -DBUILD_TESTING=OFF -DHWY_ENABLE_EXAMPLES=OFF
  build prometheus-cpp core -DENABLE_PULL=OFF -DENABLE_PUSH=OFF -DENABLE_TESTING=OFF -DGENERATE_PKGCONFIG=OFF
  build spdlog spdlog -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_EXAMPLE=OFF
  (
    cd "$work/source"/libmicrohttpd-*/
    ./configure --quiet --disable-shared --disable-https --disable-doc --disable-examples CFLAGS="$flags"
    make --silent -j "$(nproc)" -C src/microhttpd libmicrohttpd.la
    cp src/microhttpd/.libs/libmicrohttpd.a "$work/lib"
  )
fi
leave "$built"
