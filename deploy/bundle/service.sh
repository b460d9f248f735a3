#!/usr/bin/env bash
# service.sh FOLDER puts the systemd unit and the sample configuration into the bundle FOLDER. The unit starts the
# server at /opt/stoker, where the bundle's README says to put the folder. assemble.sh runs this.
set -euo pipefail

folder=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$folder/lib/systemd/system" "$folder/share/stoker"
sed -E 's|/usr/(bin\|share)/|/opt/stoker/\1/|g' "$source/deploy/systemd/stokerd.service" \
  >"$folder/lib/systemd/system/stokerd.service"
cp "$source/deploy/systemd/stokerd.yaml" "$folder/share/stoker/"
