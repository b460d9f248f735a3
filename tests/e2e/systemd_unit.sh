#!/usr/bin/env bash
# systemd_unit.sh UNIT PROGRAM: systemd itself has nothing to say against UNIT, and rates its sandbox as tight.
# PROGRAM stands in for ExecStart's, which is not installed. Exits with 77 where there is no systemd.
set -euo pipefail

unit=$1 program=$2
if ! command -v systemd-analyze >/dev/null; then
  echo "SKIPPED: this machine has no systemd-analyze"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/${unit##*/}
sed -E "s|^ExecStart=[^ ]+|ExecStart=$program|" "$unit" >"$copy"
grep -q "^ExecStart=$program serve" "$copy"

# What it says of other units, which this one pulls in, is for the machine's owner.
if systemd-analyze verify "$copy" 2>&1 | grep -F "${unit##*/}"; then exit 1; fi
# 0 is the tightest of 100; a service without any hardening gets 96.
systemd-analyze security --offline=true --threshold=20 --no-pager "$copy"
