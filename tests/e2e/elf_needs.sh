#!/usr/bin/env bash
# elf_needs.sh [--glibc VERSION] FILE...: these programs and libraries run on any x86-64 Linux since glibc VERSION as they
# are: what they need is in glibc, libgcc_s or beside them, and no later version of it. By default it is 2.34: Ubuntu 22.04,
# RHEL 9, Amazon Linux 2023. Those of other compilers' runtimes, CUDA's driver for one, they may look for only when they run.
set -euo pipefail

newest=2.34
if [[ $1 == --glibc ]]; then
  newest=$2
  shift 2
fi
readonly newest newest_gcc=7.0.0  # glibc's; libgcc_s's, which RHEL 8's has.
result=0
fail() {
  printf '%s\n' "$*"
  result=1
}

# newer_than VERSION: of the versions on stdin, those above it.
newer_than() { sort -uV | awk -v least="$1" '$0 == least {seen = 1; next} seen' ; }

# needed NAME FILE: the versions of NAME_… that FILE's symbols need.
needed() { readelf -V --wide "$2" | sed -nE "s/.*Name: $1_([0-9.]+) .*/\1/p"; }

for file in "$@"; do
  [[ $(readelf -h "$file") == *X86-64* ]] || fail "$file is not for x86-64"
  folder=$(dirname "$file")
  runpath=$(readelf -d "$file" | sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\]/\2/p')
  while read -r library; do
    case $library in
      libc.so.6 | libm.so.6 | libpthread.so.0 | libdl.so.2 | librt.so.1 | ld-linux-x86-64.so.2 | libgcc_s.so.1) ;;
      *)
        found=${runpath/'$ORIGIN'/$folder}/$library
        [[ -n $runpath && -e $found ]] || fail "$file needs $library, which other machines may lack"
        ;;
    esac
  done < <(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  [[ -z $runpath || $runpath == '$ORIGIN'* ]] || fail "$file looks for libraries in $runpath"
  ! readelf -d "$file" | grep -q STATIC_TLS ||
    fail "$file has thread-local variables that a process which runs already may have no room for"
  versions=$({ needed GLIBC "$file"; echo "$newest"; } | newer_than "$newest" | paste -sd' ')
  [[ -z $versions ]] || fail "$file needs glibc $versions: $(objdump -T "$file" | grep -E "GLIBC_(${versions// /|})" | awk '{print $NF}' | paste -sd' ')"
  versions=$({ needed GCC "$file"; echo "$newest_gcc"; } | newer_than "$newest_gcc" | paste -sd' ')
  [[ -z $versions ]] || fail "$file needs libgcc_s of GCC $versions"
  versions=$(needed '(GLIBCXX|CXXABI)' "$file" | paste -sd' ')
  [[ -z $versions ]] || fail "$file needs a shared libstdc++"
done
exit "$result"
