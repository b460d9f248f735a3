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

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/debian_root.sh"
repository=$(cd "$here/../.." && pwd)
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
why=$(why_no_debian_root)
[[ -z $why ]] || die "$why"
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

mkdir -p "$(dirname "$root")"
echo "== A new Debian 12 in $root"
make_debian_root bookworm "$root"
took debootstrap
git clone -q --no-hardlinks "$repository" "$root/root/stoker"
failed=0
for command in "$@"; do
  echo "== ./dev $command"
  if in_debian_root "$root" "cd /root/stoker; ./dev $command"; then
    took "./dev $command"
  else
    took "./dev $command, which FAILED"
    failed=1
  fi
done
printf '%s\n' "== Took" "${report[@]}"
exit "$failed"
