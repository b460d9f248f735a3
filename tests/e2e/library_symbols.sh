#!/usr/bin/env bash
# library_symbols.sh LIBRARY HEADER: libstoker.so shows the process the functions of stoker.h and nothing else, whatever
# it is linked from.
set -euo pipefail

library=$1 header=$2
declared=$(grep -oE '\bstoker_[a-z_]+\(' "$header" | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$library" | awk '{print $NF}' | sort -u)
if [[ $(wc -l <<<"$declared") -lt 20 ]]; then
  echo "$header declares few functions: is it read right?"
  exit 1
fi
if ! diff <(echo "$declared") <(echo "$exported"); then
  echo "$library exports (>) other symbols than $header declares (<)"
  exit 1
fi
name=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
if [[ $name != libstoker.so.1 ]]; then
  echo "its soname is $name"
  exit 1
fi
if nm -D "$library" | grep -E ' [uV] '; then
  echo "these symbols would be one with those of the same name in other libraries"
  exit 1
fi
