#!/usr/bin/env bash
# run.sh SCRIPT ARGUMENT...: runs a script in a virtual environment in the user's cache that has what packages.txt lists,
# made once. SKIPPED (77) where that cannot be made.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../support/python_environment.sh"

environment=$(environment_of sources-stores "$here/packages.txt" "${BASH_SOURCE[0]}")
make() {
  echo "Installing what packages.txt lists into $environment, once"
  make_environment "$environment"
  install "$environment" "$here/packages.txt" --no-deps
  finish "$environment"
}
is_whole "$environment" || alone "$environment"
is_whole "$environment" || make >&2
is_whole "$environment" || {
  echo "SKIPPED: not all that packages.txt lists could be installed"
  exit 77
}
exec "$environment/bin/python" "$@"
