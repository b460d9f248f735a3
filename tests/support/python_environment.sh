#!/usr/bin/env bash
# python_environment.sh PACKAGES ENVIRONMENT: the virtual environment ENVIRONMENT with what the file PACKAGES lists, a pip
# requirement a line.
#
# Nothing where it is there already. A package that cannot be installed is named and left out, and tried again by the
# next run.
set -euo pipefail

packages=${1:?the file of requirements}
environment=${2:?the environment to make}
if cmp -s "$packages" "$environment/installed.txt"; then exit; fi

mkdir -p "$environment"
/usr/bin/python3 -m venv "$environment"
pip() { "$environment/bin/pip" install --quiet --disable-pip-version-check -c "$packages" "$@"; }

# All at once is faster, but leaves all out where one fails.
failed=
if ! pip -r "$packages"; then
  while read -r package; do
    [[ -n $package && $package != \#* ]] || continue
    echo "  $package"
    pip "$package" || failed+=" $package"
  done <"$packages"
fi
if [[ -n $failed ]]; then
  echo "not installed, hence left out:$failed"
else
  cp "$packages" "$environment/installed.txt"
fi
