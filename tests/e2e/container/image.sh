#!/usr/bin/env bash
# Builds the images of deploy/container, runs them and looks at what they hold; --help says how.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: tests/e2e/container/image.sh [--folder FOLDER] [--keep] [--no-caches] [--once]

Shows that deploy/container builds images from a clean clone, and that a container engine runs them. Makes a Debian 12
with debootstrap, as BASE, and a clone of the last commit of this repository. Then Buildah, without a daemon, builds the
server's image twice, which must be equal, and the client's. Podman runs the server with a root that cannot be written
and without rights; a client in another container reads photographs from it; it is healthy, and drains. Syft scans the
image. Says at the end how long each step took: four minutes in all, on two cores with warm caches.

  --folder FOLDER  where; it must not exist yet. Default: build/container-image
  --keep           leave FOLDER there to look at; otherwise it is removed
  --no-caches      take nothing that was compiled before: neither ccache nor ~/.cache/stoker-dev
  --once           build the server's image once

Needs root and the packages debootstrap, buildah, podman and crun. The mirror, proxies and host names are those of this
machine's apt.
TEXT
}

die() {
  printf 'image.sh: %s\n' "$*" >&2
  exit 1
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../../.." && pwd)
source "$here/../debian_root.sh"
source "$repository/cmake/cache_folder.sh"
arguments=("$@")
folder=$repository/build/container-image
keep='' caches=yes twice=yes
while (($#)); do
  case $1 in
    --folder)
      folder=$(realpath -m "${2:?}")
      shift 2
      ;;
    --keep)
      keep=yes
      shift
      ;;
    --no-caches)
      caches=
      shift
      ;;
    --once)
      twice=
      shift
      ;;
    -h | --help)
      usage
      exit
      ;;
    *) die "unknown option $1; see --help" ;;
  esac
done
why=$(why_no_debian_root)
[[ -z $why ]] || die "$why"
for tool in buildah podman crun; do
  command -v "$tool" >/dev/null || die "needs $tool: apt-get install --no-install-recommends buildah podman crun"
done

# In namespaces of its own, so that mounts, processes and networks end with it. crun does not know the cgroups of
# version 2 that some machines have beside those of version 1.
if [[ ${STOKER_INSIDE:-} != yes ]]; then
  [[ ! -e $folder ]] || die "$folder exists already; remove it or name another with --folder"
  [[ -z $(git -C "$repository" status --porcelain) ]] || echo "Note: what is not committed is not tested."
  trap '[[ $keep ]] || rm -rf --one-file-system "$folder"' EXIT
  STOKER_INSIDE=yes unshare --mount --pid --fork --kill-child --mount-proc "${BASH_SOURCE[0]}" "${arguments[@]}"
  exit
fi
if [[ $(findmnt -n -o FSTYPE /sys/fs/cgroup) != cgroup2 ]]; then
  umount -l /sys/fs/cgroup/unified 2>/dev/null || true
fi

# took NAME: notes the seconds since it was last called.
report=()
took() {
  report+=("$(printf '%5d s  %s' $((SECONDS - ${before:-0})) "$1")")
  before=$SECONDS
}

# Nothing is left among this machine's images.
mkdir -p "$folder"
storage=(--root "$folder/storage" --runroot "$folder/run" --storage-driver overlay)
buildah() { command buildah "${storage[@]}" "$@"; }
podman() { command podman "${storage[@]}" --cgroup-manager cgroupfs --log-level fatal "$@"; }

echo "== A new Debian 12"
make_debian_root bookworm "$folder/debian"
took debootstrap
container=$(buildah from scratch)
buildah add -q "$container" "$folder/debian" / >/dev/null
for variable in http_proxy https_proxy; do
  buildah config --env "$variable=${!variable:-}" "$container"
done
[[ ! -e $folder/debian/etc/pip-trusts.crt ]] || buildah config --env PIP_CERT=/etc/pip-trusts.crt "$container"
buildah commit -q --rm "$container" localhost/debian >/dev/null
rm -rf "$folder/debian"
took "the image debian"

git clone -q --no-hardlinks "$repository" "$folder/clone-stokerd"
git clone -q --no-hardlinks "$folder/clone-stokerd" "$folder/clone-again"
cd "$folder/clone-stokerd"
epoch=$(git log -1 --format=%ct)
common=(--isolation chroot --network host --timestamp "$epoch" --build-arg "SOURCE_DATE_EPOCH=$epoch"
  --build-arg "VERSION=$(sed -nE 's/^project\(stoker VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)"
  --build-arg "REVISION=$(git rev-parse HEAD)")
if [[ $caches ]]; then
  mkdir -p "$HOME/.cache/ccache" "$cache"
  common+=(-v "$HOME/.cache/ccache:/root/.cache/ccache" -v "$cache:/root/.cache/stoker-dev")
fi

# build NAME FILE ARGUMENT...: an image of this folder, by a Containerfile.
build() {
  local log=$folder/$1.log
  buildah build "${common[@]}" --format docker -f "$2" -t "localhost/$1" "${@:3}" . >"$log" 2>&1 || {
    tail -n 40 "$log"
    die "$1 does not build"
  }
  took "the image $1"
}

# image NAME BASE COMMAND [FILE FOLDER]: BASE with a file of this folder, in which a shell's COMMAND was run.
image() {
  local log=$folder/$1.log container
  container=$(buildah from "$2")
  [[ -z ${4:-} ]] || buildah copy -q "$container" "$4" "$5" >/dev/null
  buildah run --isolation chroot --network host "$container" -- bash -euc "$3" >"$log" 2>&1 || {
    tail -n 40 "$log"
    die "$1 cannot be made"
  }
  buildah commit -q --rm "$container" "localhost/$1" >/dev/null
  took "the image $1"
}

echo "== The server's image, of a clean clone"
file=deploy/container/Containerfile
# Packages are installed once for both builds, whose `./dev setup` finds nothing more to install. Their files keep their
# times, by which ccache knows compilers.
image packages localhost/debian 'cd /src; ./dev setup --for server' dev /src/
build stokerd "$file" --build-arg BASE=localhost/packages
if [[ $twice ]]; then
  echo "== The same, of another clone"
  cd "$folder/clone-again"
  build again "$file" --build-arg BASE=localhost/packages
fi

echo "== The client's image"
cd "$folder/clone-stokerd"
# Debian's pip installs nothing beside its packages, unless it is told to.
image python localhost/debian 'apt-get -q update
  DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends python3-pip
  printf "[global]\nbreak-system-packages = true\n" >/etc/pip.conf'
build client deploy/container/client.Containerfile --build-arg DEBIAN=localhost/debian --build-arg BASE=localhost/python

"$here/image.py" "$folder" "${storage[@]}"
took "running them"

podman images --format '{{.Size}}  {{.Repository}}' | sed -n 's|localhost/||p' | sort -k3
printf '%s\n' "== Took" "${report[@]}"
