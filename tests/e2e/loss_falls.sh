#!/usr/bin/env bash
# loss_falls.sh BIN WORK COMMAND...: serves made photographs of four classes and runs COMMAND, an example program, on
# them. Fails unless the loss of its last steps is less than half that of its first.
set -euo pipefail

bin=$1 work=$2
shift 2
[[ -d $work/photos ]] || "$bin/make-photo-folder" "$work/photos" --classes 4 --images 50 --width 160 --height 120
"$bin/stokerd" serve --data "$work/photos" --listen 127.0.0.1:0 --cache-dir "$work/cache" \
  >"$work/server.out" 2>"$work/server.log" &
server=$!
trap 'kill $server; wait' EXIT
until grep -q '^listening on' "$work/server.out"; do
  kill -0 $server
  sleep 0.05
done

"$@" "$(sed -n 's/^listening on //p' "$work/server.out")" --classes 4 --steps 60 | tee "$work/losses"
awk '/ loss / { losses[++n] = $NF }
  END {
    if (n != 6) { print "expected six lines of losses, found", n; exit 1 }
    if (losses[6] + losses[5] > (losses[1] + losses[2]) / 2) { print "the loss did not fall"; exit 1 }
  }' "$work/losses"
