#!/usr/bin/env bash
# readme.sh REPOSITORY BIN CLIENT [LIBRARY ENVIRONMENT]: runs what README.md and the pages under docs/ show, with the programs
# in BIN:
#
#   README.md          its quick start, on a free port; CLIENT, which is its C++ snippet compiled, against a server
#   README, python.md  their `python` blocks, by LIBRARY, libstoker.so, where the Python of which the script ENVIRONMENT tells, or
#                      else python3, has the packages
#                      that a block imports; `py` blocks need a GPU or several processes, and are not run
#   guide.md           the server's configuration, through `stokerd check`, and prepare's commands
#   pipeline.md        each of its pipelines, through `stoker describe`
set -euo pipefail

repository=$(cd "$1" && pwd) bin=$2 client=$3 library=${4:-} python=${5:+$("$5" --where)/bin/python3}
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
export PATH=$bin:$PATH XDG_CACHE_HOME=$work/cache

# block FILE LANGUAGE HEADING: the first block of LANGUAGE in FILE after the line HEADING.
block() {
  awk -v language="$2" -v heading="$3" '
    $0 == heading { in_section = 1 }
    in_section && !in_block && $0 == "```" language { in_block = 1; next }
    in_block && $0 == "```" { exit }
    in_block' "$repository/$1"
}

# blocks FILE LANGUAGE NAME: writes every block of LANGUAGE in FILE to NAME-1, NAME-2, ….
blocks() {
  awk -v language="$2" -v name="$3" '
    !in_block && $0 == "```" language { in_block = 1; file = name "-" ++count; printf "" > file; next }
    in_block && $0 == "```" { in_block = 0; close(file); next }
    in_block { print > file }' "$repository/$1"
}

# The port of the server whose output is the file $1, once it listens.
port_in() {
  until grep -q '^listening on' "$1"; do sleep 0.05; done
  sed -n 's/^listening on .*://p' "$1"
}

# A port that was free a moment ago.
: >probe
stokerd serve --synthetic 8x8x3 --listen 127.0.0.1:0 >probe 2>&1 &
port=$(port_in probe)
kill %1
wait

block README.md sh '## Quick start' | sed "s/7077/$port/g" >quick-start.sh
grep -q 'stokerd serve' quick-start.sh
bash -eum quick-start.sh
head -c 8 sheet.png | grep -q PNG
echo "README: quick start: ok"

# The configuration serves what the other pages ask for: the quick start's photographs.
block docs/guide.md yaml '## Serve' >config.yaml
grep -q datasets config.yaml
stokerd check --config config.yaml
echo "guide: configuration: ok"

: >server
stokerd serve --data photos --listen "127.0.0.1:$port" >server 2>&1 &
port_in server >/dev/null
[ "$("$client" "127.0.0.1:$port" | grep -c '^16 images')" = 12 ]  # 200 photographs, the tail dropped
echo "README: C++ snippet: ok"

# Whether $1, a Python, can import what the snippet $2 does.
has_packages_of() {
  local package
  for package in torch torchvision numpy jax; do
    ! grep -qE "^(import|from) .*\b$package\b" "$2" || "$1" -c "import $package" 2>/dev/null || return 1
  done
}

# run_python SNIPPET OUTPUT NAME: runs SNIPPET, where that can be done here, and keeps what it prints.
run_python() {
  local interpreter
  for interpreter in "$python" "$(command -v python3 || true)"; do
    if [[ -n $library && -x $interpreter ]] && has_packages_of "$interpreter" "$1"; then
      STOKER_LIBRARY=$library PYTHONPATH=$repository/client/python "$interpreter" "$1" >"$2" 2>errors || { cat errors; exit 1; }
      [[ ! -s errors ]] || { echo "$3 prints what it should not:"; cat errors; exit 1; }
      echo "$3: ok"
      return
    fi
  done
  echo "$3: not run: there is no Python with what it imports, or no library that Python can load"
}

block README.md python '## Quick start' | sed "s/7077/$port/g" >snippet.py
grep -q 'stoker.Loader' snippet.py
run_python snippet.py printed "README: Python snippet"
[ ! -e printed ] || [ "$(wc -l <printed)" = 12 ]
blocks docs/python.md python page
[ -e page-3 ]
for snippet in page-*; do
  sed -i "s/7077/$port/g" "$snippet"
  run_python "$snippet" page-printed "python.md: ${snippet/page-/block }"
done

blocks docs/pipeline.md yaml pipeline
[ -e pipeline-3 ]
for pipeline in pipeline-*; do
  stoker describe --servers "127.0.0.1:$port" --pipeline "$pipeline" >described
  grep -q '^as sent' described
done
echo "pipeline.md: pipelines: ok"
kill %1
wait

block docs/guide.md yaml '## Prepare a dataset' >eval.yaml
block docs/guide.md sh '## Prepare a dataset' >prepare.sh
grep -q 'stokerd prepare' prepare.sh
bash -eu prepare.sh
[ -e photos-val/prepared.yaml ]
echo "guide: prepare: ok"
