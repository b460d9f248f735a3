#!/usr/bin/env bash
# make_environment.sh CACHE: the virtual environment CACHE/peers with the libraries that benchmarks compare with,
# those of packages.txt beside this script.
#
# Several GB, a few minutes; nothing where it is there already. A package that cannot be installed is named and left
# out, and tried again by the next run.
set -euo pipefail

packages=$(dirname "${BASH_SOURCE[0]}")/packages.txt
mkdir -p "${1:?where to keep it}"
environment=$(cd "$1" && pwd)/peers
if cmp -s "$packages" "$environment/installed.txt"; then exit; fi

echo "Installing the libraries to compare with into $environment, once; it takes some minutes and 8 GB"
/usr/bin/python3 -m venv "$environment"
failed=
while read -r package; do
  [[ -n $package && $package != \#* ]] || continue
  echo "  $package"
  "$environment/bin/pip" install --quiet --disable-pip-version-check -c "$packages" "$package" || failed+=" $package"
done <"$packages"
if [[ -n $failed ]]; then
  echo "not installed, hence left out:$failed"
else
  cp "$packages" "$environment/installed.txt"
fi
