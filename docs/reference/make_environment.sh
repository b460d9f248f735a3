#!/usr/bin/env bash
# make_environment.sh: the virtual environment in the user's cache with what packages.txt beside this script lists, once;
# prints its folder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../tests/support/python_environment.sh"
make_once "$(environment_of docs "$here/packages.txt" "${BASH_SOURCE[0]}")" "$here/packages.txt"
