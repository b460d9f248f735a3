#!/usr/bin/env bash
# torch_project.sh TORCH BUILD BIN COMPILER FLAGS: what is installed of BUILD is a package that projects outside the
# repository find, without gRPC and what else is private to Stoker, and build against a torch that Stoker never saw:
# examples/, whose loss falls, and tests/integration/torch, the tests of stoker::torch. TORCH is `libtorch`, for Debian's,
# or `wheel`, for that of the Python tests' environment. Exits with 77, saying why, where there is none.
set -euo pipefail

torch=$1 build=$2 bin=$3 compiler=$4 flags=$5
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$build/torch_project-$torch
rm -rf "$work"
mkdir -p "$work"

case $torch in
  libtorch)
    if ! compgen -G '/usr/lib/*/cmake/Torch/TorchConfig.cmake' >/dev/null; then
      echo "SKIPPED: libtorch-dev is not installed"
      exit 77
    fi
    find_torch=()
    ;;
  wheel)
    environment=$("$source/tests/python/make_environment.sh" --where)
    wheel=$(compgen -G "$environment/lib/python3*/site-packages/torch/share/cmake/Torch" || true)
    if [[ -z $wheel ]]; then
      echo "SKIPPED: no environment has torch; tests/python/make_environment.sh --all makes one"
      exit 77
    fi
    find_torch=(-DTORCH_WHEEL="${wheel%/share/*}")
    ;;
esac

cmake --install "$build" --prefix "$work/prefix" >/dev/null
export CCACHE_BASEDIR=$source CCACHE_NOHASHDIR=1
launcher=$(command -v ccache || true)
for project in examples tests/integration/torch; do
  cmake -S "$source/$project" -B "$work/$project" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" "${find_torch[@]}" \
    --no-warn-unused-cli -DCMAKE_DISABLE_FIND_PACKAGE_gRPC=ON -DCMAKE_DISABLE_FIND_PACKAGE_absl=ON \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_FLAGS="$flags" \
    --log-level=ERROR -Wno-dev >/dev/null
  cmake --build "$work/$project"
done

"$source/tests/e2e/loss_falls.sh" "$bin" "$work" "$work/examples/train_cnn"

"$bin/stokerd" serve --config "$source/tests/integration/torch/numbers.yaml" --cache-dir "$work/cache" \
  >"$work/numbers.out" 2>"$work/numbers.log" &
server=$!
trap 'kill $server; wait' EXIT
until grep -q '^listening on' "$work/numbers.out"; do
  kill -0 $server
  sleep 0.05
done
NUMBERS_SERVER=$(sed -n 's/^listening on //p' "$work/numbers.out") "$work/tests/integration/torch/torch_test"
