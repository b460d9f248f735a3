#!/usr/bin/env bash
# run.sh PACKAGES TEST ARGUMENT...: runs a script in a virtual environment in the user's cache that has what PACKAGES
# lists, made once. SKIPPED (77) where that cannot be made.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../support/python_environment.sh"

packages=$1 name=$(basename "$1" .txt)
environment=$(environment_of "sources-$name" "$packages" "${BASH_SOURCE[0]}")
make() {
  echo "Installing what ${packages##*/} lists into $environment, once"
  make_environment "$environment"
  install "$environment" "$packages" --no-deps
  finish "$environment"
}
is_whole "$environment" || alone "$environment"
is_whole "$environment" || make >&2
is_whole "$environment" || {
  echo "SKIPPED: not all that ${packages##*/} lists could be installed"
  exit 77
}
exec "$environment/bin/python" "${@:2}"
