#!/usr/bin/env bash
# readme.sh README BIN CLIENT [LIBRARY PYTHON]: runs what the README shows. Its quick start, on a free port; its
# configuration, through `stokerd check`; CLIENT, which is its C++ snippet compiled, against the server; and its Python
# snippet, by LIBRARY, libstoker.so, where there is PYTHON, one that has torch.
set -euo pipefail

readme=$1 bin=$2 client=$3 library=${4:-} python=${5:-}
source_folder=$(cd "$(dirname "$readme")" && pwd)
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
export PATH=$bin:$PATH XDG_CACHE_HOME=$work/cache

# The first block of language $1 after the heading $2.
block() {
  awk -v language="$1" -v heading="$2" '
    $0 == heading { in_section = 1 }
    in_section && !in_block && $0 == "```" language { in_block = 1; next }
    in_block && $0 == "```" { exit }
    in_block' "$readme"
}

# A port that was free a moment ago.
: >probe
stokerd serve --synthetic 8x8x3 --listen 127.0.0.1:0 >probe 2>&1 &
until grep -q '^listening on' probe; do sleep 0.05; done
port=$(sed -n 's/^listening on .*://p' probe)
kill %1
wait

block sh '## Quick start' | sed "s/7077/$port/g" >quick-start.sh
grep -q 'stokerd serve' quick-start.sh
bash -eum quick-start.sh
file sheet.png 2>/dev/null | grep -q PNG || head -c 8 sheet.png | grep -q PNG
echo "quick start: ok"

: >server
stokerd serve --data photos --listen "127.0.0.1:$port" >server 2>&1 &
until grep -q '^listening on' server; do sleep 0.05; done
[ "$("$client" "127.0.0.1:$port" | grep -c '^16 images')" = 12 ]  # 200 photographs, the tail dropped
echo "C++ snippet: ok"

block python '## Quick start' | sed "s/7077/$port/g" >snippet.py
grep -q 'stoker.Loader' snippet.py
if [[ -n $library && -x $python ]]; then
  lines=$(STOKER_LIBRARY=$library PYTHONPATH=$source_folder/client/python "$python" snippet.py | wc -l)
  [ "$lines" = 12 ]
  echo "Python snippet: ok"
else
  echo "Python snippet: not run, there is no Python with torch here, or a sanitizer's library"
fi
kill %1
wait

cat >eval.yaml <<'YAML'
ops:
  - Resize: {size: 64}
  - CenterCrop: {size: 64}
YAML
block sh '### Preparing a dataset' >prepare.sh
grep -q 'stokerd prepare' prepare.sh
bash -eu prepare.sh
[ -e photos-val/prepared.yaml ]
echo "prepare: ok"

block yaml '### The server' >config.yaml
grep -q datasets config.yaml
stokerd check --config config.yaml
echo "configuration: ok"
