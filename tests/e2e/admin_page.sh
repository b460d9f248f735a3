#!/usr/bin/env bash
# admin_page.sh BIN OUT: admin_page.py with axe-core, which is installed once into the user's cache; without it where that
# cannot be done.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../support/python_environment.sh"

packages=$here/packages-admin-page.txt
environment=$(environment_of admin-page "$packages" "${BASH_SOURCE[0]}")
make() {
  echo "Installing what ${packages##*/} lists into $environment, once"
  make_environment "$environment"
  install "$environment" "$packages" --no-deps
  finish "$environment"
}
is_whole "$environment" || alone "$environment"
is_whole "$environment" || make >&2 || true
axe=("$environment"/lib/python3*/site-packages/axe_playwright_python/axe.min.js)
[[ -e ${axe[0]} ]] || axe=()
exec /usr/bin/python3 "$here/admin_page.py" "$@" "${axe[@]}"
