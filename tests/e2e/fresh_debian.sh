#!/usr/bin/env bash
# Runs ./dev in a new, empty Debian 12; --help says how.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: tests/e2e/fresh_debian.sh [--root FOLDER] [--keep] [COMMAND...]

Shows that a clone on a new machine needs nothing but `./dev`. Makes a minimal Debian 12 in FOLDER with debootstrap,
clones the last commit of this repository into it, and there runs `./dev COMMAND` for each COMMAND; by default

  tests/e2e/fresh_debian.sh demo test

which takes some 20 minutes on two cores. A COMMAND with arguments is quoted: 'test --preset asan'.

  --root FOLDER  where; it must not exist yet. Default: build/fresh-debian
  --keep         leave FOLDER there to look at; otherwise it is removed

Needs root and the package debootstrap. The mirror, proxies and host names are those of this machine's apt.
TEXT
}

die() {
  printf 'fresh_debian.sh: %s\n' "$*" >&2
  exit 1
}

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
root=$repository/build/fresh-debian
keep=
while [[ ${1:-} == -* ]]; do
  case $1 in
    --root)
      root=$(realpath -m "${2:?}")
      shift 2
      ;;
    --keep)
      keep=yes
      shift
      ;;
    -h | --help)
      usage
      exit
      ;;
    *) die "unknown option $1; see --help" ;;
  esac
done
(($# > 0)) || set -- demo test
((EUID == 0)) || die "needs root, to make a root filesystem and enter it"
command -v debootstrap >/dev/null || die "needs debootstrap: apt-get install debootstrap"
[[ ! -e $root ]] || die "$root exists already; remove it or name another with --root"
[[ -z $(git -C "$repository" status --porcelain) ]] || echo "Note: what is not committed is not tested."

# Mounts live in namespaces of their own and end with the processes in them, so that only files are left to remove.
trap '[[ $keep ]] || rm -rf --one-file-system "$root"' EXIT
trap 'exit 130' INT TERM

# took NAME: notes the seconds since it was last called.
report=()
took() {
  report+=("$(printf '%5d s  %s' $((SECONDS - ${before:-0})) "$1")")
  before=$SECONDS
}

make_root() {
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg sources mirror
  # shellcheck disable=SC2016  # They are apt's variables.
  sources=$(apt-get indextargets --no-release-info --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' | grep -E ' bookworm(-updates|-security)? main$' | sort -u)
  mirror=$(awk '$3 == "bookworm" {print $2; exit}' <<<"$sources")
  [[ -n $mirror ]] || die "this machine's apt knows no mirror of Debian 12"
  eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
  unshare --mount env ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    debootstrap --variant=minbase --keyring="$keys" bookworm "$root" "$mirror" >"$root.log" ||
    die "debootstrap failed; $root.log says more"
  rm "$root.log"
  echo "$sources" >"$root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::(https?::|Check-)' >"$root/etc/apt/apt.conf.d/90this-machine" || true
  cp -L /etc/hosts /etc/resolv.conf "$root/etc/"
}

# in_root COMMAND: a shell's COMMAND in the clone, with nothing of this machine's environment.
in_root() {
  # shellcheck disable=SC2016  # The inner shell's own.
  unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" bash -euc '
    mount -t sysfs -o ro sysfs "$0/sys"
    mount -t tmpfs tmpfs "$0/dev/shm"
    mount -t devpts devpts "$0/dev/pts"
    exec chroot "$0" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
      bash -euc "cd /root/stoker; $1"' "$root" "$1"
}

mkdir -p "$(dirname "$root")"
echo "== A new Debian 12 in $root"
make_root
took debootstrap
git clone -q --no-hardlinks "$repository" "$root/root/stoker"
failed=0
for command in "$@"; do
  echo "== ./dev $command"
  if in_root "./dev $command"; then
    took "./dev $command"
  else
    took "./dev $command, which FAILED"
    failed=1
  fi
done
printf '%s\n' "== Took" "${report[@]}"
exit "$failed"
