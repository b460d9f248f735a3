#!/usr/bin/env bash
# make_environment.sh [--all | --where]: a virtual environment in the user's cache, in which the tests of the Python
# package run, with what packages.txt beside this script lists: pytest and NumPy, 150 MB. With --all another one, which
# has torch, torchvision, JAX, training frameworks and more too: 3 GB, some minutes. Each is made once; its folder is printed at the end.
#
# Its folder wheelhouse has NumPy for every Python found here, from which tests install without a network.
#
# --where makes nothing and prints the folder of the larger one where that is there, otherwise that of the smaller one,
# which may not be there.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../support/python_environment.sh"

small=$(environment_of python "$here/packages.txt" "${BASH_SOURCE[0]}")
large=$(environment_of python-all "$here"/packages*.txt "$here/stand_in_for_cuda.py" "${BASH_SOURCE[0]}")

case ${1:-} in
  --where)
    if is_made "$large"; then echo "$large"; else echo "$small"; fi
    exit
    ;;
  --all) environment=$large size="3 GB, some minutes" ;;
  '') environment=$small size="150 MB" ;;
  *)
    echo "make_environment.sh does not know $1" >&2
    exit 2
    ;;
esac

# Only the folder's name goes to stdout.
make() {
  echo "Installing what the Python package is tested with into $environment, once: $size"
  make_environment "$environment"
  install "$environment" "$here/packages.txt"
  if [[ $environment == "$large" ]]; then
    install "$environment" "$here/packages-torch.txt" --no-deps
    install "$environment" "$here/packages-all.txt"
    install "$environment" "$here/packages-frameworks.txt" --no-deps
    [[ $left_out == *torch* ]] || "$here/stand_in_for_cuda.py" "$(echo "$environment"/lib/python3*/site-packages)"
  fi
  for version in 3.9 3.10 3.11 3.12 3.13 3.14; do
    command -v "python$version" >/dev/null ||
      compgen -G "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version.*/bin/python$version" >/dev/null || continue
    "$environment/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
      --python-version "$version" --dest "$environment/wheelhouse" numpy ||
      echo "no NumPy for Python $version, hence not tested with it"
  done
  finish "$environment"
}
is_whole "$environment" || alone "$environment"
is_whole "$environment" || make >&2
echo "$environment"
