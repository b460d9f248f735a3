#!/usr/bin/env bash
# assemble.sh BUILD FOLDER puts what `ninja bundle` made in BUILD into FOLDER, which must be new, and checks that it
# runs on other systems. `./dev bundle` runs this.
set -euo pipefail

build=$1 folder=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$folder"/{bin,lib,include,licenses}

for program in "$build"/bundle/bin/*; do
  strip -o "$folder/bin/${program##*/}" "$program"
done
library=$(readlink -f "$build/lib/libstoker.so")
strip --strip-unneeded -o "$folder/lib/${library##*/}" "$library"
ln -s "${library##*/}" "$folder/lib/libstoker.so.1"
ln -s libstoker.so.1 "$folder/lib/libstoker.so"
cp "$source/client/capi/stoker.h" "$folder/include/"
/usr/bin/python3 "$source/client/python/build_wheel.py" "$folder/lib/${library##*/}" "$folder" >/dev/null
cp "$source"/{LICENSE,NOTICE,deploy/bundle/README.md} "$folder/"
"$source/deploy/bundle/service.sh" "$folder"

# These packages are linked statically or compiled in.
for package in libgrpc++-dev libprotobuf-dev libabsl-dev libre2-dev zlib1g-dev libzstd-dev libc-ares-dev libssl-dev libxxhash-dev \
  libyaml-cpp-dev libjpeg62-turbo-dev libwebp-dev libspng-dev libhwy-dev libspdlog-dev libfmt-dev libcli11-dev libcurl4-openssl-dev \
  prometheus-cpp-dev libmicrohttpd-dev nlohmann-json3-dev librandom123-dev gcc-12-base libgtest-dev; do
  [[ ! -e /usr/share/doc/$package/copyright ]] ||
    cp -L "/usr/share/doc/$package/copyright" "$folder/licenses/$package"
done

files=("$folder"/bin/* "$folder/lib/${library##*/}")
"$source/tests/e2e/elf_needs.sh" "${files[@]}"
"$folder/bin/stokerd" --version >/dev/null
