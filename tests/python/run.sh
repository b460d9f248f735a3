#!/usr/bin/env bash
# run.sh CACHE WORK LIBRARY BINARIES [TEST-FILE…]: makes the wheel with LIBRARY, a libstoker.so, installs it by pip into the
# folder WORK/installed, or, given test files, runs these against what is installed there. BINARIES has the programs.
#
# Returns 77 where CACHE/python is not there.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${1:?} work=${2:?} library=${3:?} binaries=${4:?}
shift 4
python=$cache/python/bin/python
if [[ ! -x $cache/python/bin/pytest ]]; then
  echo "SKIPPED: no environment for Python; to make it: tests/python/make_environment.sh .cache"
  exit 77
fi

export PYTHONDONTWRITEBYTECODE=1 NO_ALBUMENTATIONS_UPDATE=1 JAX_PLATFORMS=cpu
if (($# == 0)); then
  rm -rf "$work/wheel" "$work/installed"
  mkdir -p "$work"
  wheel=$("$python" "$here/../../client/python/build_wheel.py" "$library" "$work/wheel")
  exec "$python" -m pip install --quiet --disable-pip-version-check --no-index --no-compile \
    --target "$work/installed" "$wheel"
fi
STOKER_TEST_WHEELS=$work/wheel STOKER_TEST_LIBRARY=$library STOKER_TEST_BINARIES=$binaries \
  STOKER_TEST_CACHE=$cache PYTHONPATH=$work/installed \
  exec "$python" -m pytest -q -p no:cacheprovider --rootdir "$here" "$@"
