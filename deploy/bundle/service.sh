#!/usr/bin/env bash
# service.sh FOLDER puts the systemd units, their drop-ins and the sample configuration into the bundle FOLDER. The units start
# the server at /opt/stoker, where the bundle's README says to put the folder. assemble.sh runs this.
set -euo pipefail

folder=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$folder/lib/systemd/system" "$folder/share/stoker"
for unit in stokerd.service stokerd.socket; do
  sed -E 's|/usr/(bin\|share)/|/opt/stoker/\1/|g' "$source/deploy/systemd/$unit" >"$folder/lib/systemd/system/$unit"
done
cp "$source"/deploy/systemd/{stokerd.yaml,credentials.conf,python-ops.conf} "$folder/share/stoker/"
