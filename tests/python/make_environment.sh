#!/usr/bin/env bash
# make_environment.sh CACHE: the virtual environment CACHE/python in which the tests of the Python package run, with what
# packages.txt beside this script lists; and CACHE/python/wheelhouse with NumPy for every Python found here, from which
# tests install without a network. Several GB, a few minutes, once.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
environment=${1:?where to keep it}/python
if ! cmp -s "$here/packages.txt" "$environment/installed.txt"; then
  echo "Installing what the Python package is tested with into $environment, once; it takes some minutes and 6 GB"
fi
"$here/../support/python_environment.sh" "$here/packages.txt" "$environment"

for version in 3.9 3.10 3.11 3.12 3.13 3.14; do
  command -v "python$version" >/dev/null ||
    compgen -G "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version.*/bin/python$version" >/dev/null || continue
  ! compgen -G "$environment/wheelhouse/numpy-*-cp${version/./}-*" >/dev/null || continue
  "$environment/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --python-version "$version" --dest "$environment/wheelhouse" numpy ||
    echo "no NumPy for Python $version, hence not tested with it"
done
