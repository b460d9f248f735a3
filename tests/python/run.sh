#!/usr/bin/env bash
# run.sh WORK LIBRARY BINARIES [TEST-FILE…]: makes the wheel with LIBRARY, a libstoker.so, installs it by pip into the
# folder WORK/installed, or, given test files, runs these against what is installed there. BINARIES has the programs.
#
# Returns 77 where there is no environment to run them in. STOKER_TEST_PYTHON is a Python to run them with instead of that of
# the environment: 77 where it has no pytest or no torch.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=${1:?} library=${2:?} binaries=${3:?}
shift 3
environment=$("$here/make_environment.sh" --where)
python=$environment/bin/python
if [[ ! -x $environment/bin/pytest ]]; then
  echo "SKIPPED: no environment for Python; to make it: tests/python/make_environment.sh [--all]"
  exit 77
fi

if [[ ${STOKER_TEST_PYTHON:-} ]]; then
  python=$STOKER_TEST_PYTHON
  "$python" -c 'import pytest, torch' || { echo "SKIPPED: $python has no pytest or no torch"; exit 77; }
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
  STOKER_TEST_WHEELHOUSE=$environment/wheelhouse PYTHONPATH=$work/installed \
  exec "$python" -m pytest -q -p no:cacheprovider --rootdir "$here" "$@"
