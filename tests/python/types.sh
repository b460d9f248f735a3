#!/usr/bin/env bash
# types.sh WORK: the types of the Python package are complete and a program that uses them is checked by them, by mypy.
# WORK keeps mypy's cache. Returns 77 where there is no mypy (Debian's package mypy).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=${1:?}
package=$here/../../client/python
if ! command -v mypy >/dev/null; then
  echo "SKIPPED: no mypy; Debian has it as the package mypy"
  exit 77
fi
cd "$package"
mypy --config-file pyproject.toml --cache-dir "$work/mypy" stoker
MYPYPATH=$package exec mypy --config-file pyproject.toml --cache-dir "$work/mypy" "$here/typed_program.py"
