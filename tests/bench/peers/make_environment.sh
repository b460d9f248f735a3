#!/usr/bin/env bash
# make_environment.sh [--where]: the virtual environment in the user's cache with the libraries that benchmarks compare
# with, those of packages.txt beside this script: 8 GB, a few minutes, once. Prints its folder; with --where it only does
# that.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../support/python_environment.sh"
environment=$(environment_of peers "$here/packages.txt" "${BASH_SOURCE[0]}")
if [[ ${1:-} == --where ]]; then
  echo "$environment"
else
  make_once "$environment" "$here/packages.txt"
fi
