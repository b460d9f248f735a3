#!/usr/bin/env bash
# make_old_glibc.sh FOLDER VERSION COMPILER: makes stand-ins for glibc in FOLDER: libc.so, libm.so, libpthread.so, libdl.so,
# librt.so, and libld.so for the dynamic linker. They have the names of what this machine's glibc has, each with the newest symbol version up to VERSION (such as
# 2.28), and no code. What is linked with them, before the real ones, asks for these versions only, so that it runs with a
# glibc of VERSION too.
#
# Until 2.34 threads, dlopen and shared memory had libraries of their own. glibc keeps these names and old versions, but not
# where they were; the names' beginnings tell.
set -euo pipefail

folder=${1:?} version=${2:?} compiler=${3:?}
mkdir -p "$folder"

# symbols LIBRARY: a line for each name that it defines: name, type, version, and whether that is the default one (@@).
symbols() {
  readelf -W --dyn-syms "$("$compiler" -print-file-name="$1")" |
    awk '$7 != "UND" && match($8, /@+GLIBC_[0-9.]+$/) {
      print substr($8, 1, RSTART - 1), $4, substr($8, RSTART + 1), $8 ~ /@@/ }' | sed 's/ @\?GLIBC_/ /'
}

# choose: of such lines, the library, the name, its type and the newest version that is not too new. Names without a default
# version are for programs of long ago.
choose() {
  awk -v newest="$version" -v library="$1" '
    function number(text, parts) { split(text, parts, "."); return parts[1] * 1e6 + parts[2] * 1e3 + parts[3] }
    number($3) <= number(newest) && number($3) > number(best[$1]) { best[$1] = $3; type[$1] = $2 }
    $4 { current[$1] = $3 }
    END {
      for (name in best) {
        if (!current[name]) continue
        home = library
        if (library == "c" && number(current[name]) > number(newest))
          home = name ~ /^_*(pthread_|sem_)/ ? "pthread" : name ~ /^dl/ ? "dl" : name ~ /^(shm_|timer_|mq_|aio_)/ ? "rt" : "c"
        print home, name, type[name], best[name]
      }
    }'
}

{
  symbols libc.so.6 | choose c
  symbols libm.so.6 | choose m
  symbols ld-linux-x86-64.so.2 | choose ld
} | sort >"$folder/symbols"

for soname in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 ld-linux-x86-64.so.2; do
  name=${soname#lib} name=${name%%[.-]*}
  awk -v library="$name" '$1 == library {
    print ($3 == "OBJECT" ? ".data" : ".text"), "; .globl", $2, "; .type", $2 ",", ($3 == "OBJECT" ? "@object" : "@function"), "; .size", $2 ", 8 ;", $2 ":" , ".quad 0"
  }' "$folder/symbols" >"$folder/$name.s"
  awk -v library="$name" '$1 == library { names[$4] = names[$4] " " $2 ";" }
    END { for (version in names) print "GLIBC_" version " {" names[version] " };" }' "$folder/symbols" >"$folder/$name.map"
  "$compiler" -shared -nostdlib -o "$folder/lib$name.so" "$folder/$name.s" -Wl,-soname,"$soname" \
    -Wl,--version-script="$folder/$name.map"
done
