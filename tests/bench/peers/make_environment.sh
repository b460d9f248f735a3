#!/usr/bin/env bash
# make_environment.sh CACHE: the virtual environment CACHE/peers with the libraries that benchmarks compare with,
# those of packages.txt beside this script. Several GB, a few minutes, once.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
environment=${1:?where to keep it}/peers
if ! cmp -s "$here/packages.txt" "$environment/installed.txt"; then
  echo "Installing the libraries to compare with into $environment, once; it takes some minutes and 8 GB"
fi
"$here/../../support/python_environment.sh" "$here/packages.txt" "$environment"
