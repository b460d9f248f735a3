#!/usr/bin/env bash
# types.sh WORK: the types of the Python package are complete and programs that use it are checked by them, by mypy. WORK
# keeps mypy's cache. One of the programs uses torch, and is checked where make_environment.sh --all has installed it.
# Returns 77 where there is no mypy.
#
# types.sh --make: a virtual environment in the user's cache with the mypy that types-packages.txt names, made once.
# Debian's own is too old to know defaults of type variables.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../support/python_environment.sh"
environment=$(environment_of types "$here/types-packages.txt")
if [[ ${1:?} == --make ]]; then
  make_once "$environment" "$here/types-packages.txt"
  exit
fi

work=$1
package=$here/../../client/python
if [[ ! -x $environment/bin/mypy ]]; then
  echo "SKIPPED: no mypy; to install it: tests/python/types.sh --make"
  exit 77
fi
mypy=("$environment/bin/mypy" --cache-dir "$work/mypy")
cd "$package"
"${mypy[@]}" --config-file pyproject.toml stoker
export MYPYPATH=$package
"${mypy[@]}" --config-file pyproject.toml "$here/typed_program.py"

# As a user has it: no configuration, and the package's own files are not looked into.
torch=$("$here/make_environment.sh" --where)
if ! "$torch/bin/python" -c 'import importlib.util as u; assert u.find_spec("torch")' 2>/dev/null; then
  echo "Not checked: a program that uses torch; tests/python/make_environment.sh --all installs it"
  exit
fi
"${mypy[@]}" --config-file= --strict --follow-imports silent --python-executable "$torch/bin/python" \
  "$here/typed_with_torch.py"
