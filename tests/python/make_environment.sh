#!/usr/bin/env bash
# make_environment.sh CACHE: the virtual environment CACHE/python in which the tests of the Python package run, with
# what packages.txt beside this script lists. Several GB, a few minutes, once.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
environment=${1:?where to keep it}/python
if ! cmp -s "$here/packages.txt" "$environment/installed.txt"; then
  echo "Installing what the Python package is tested with into $environment, once; it takes some minutes and 8 GB"
fi
"$here/../support/python_environment.sh" "$here/packages.txt" "$environment"
