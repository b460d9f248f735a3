#!/usr/bin/env bash
# Installs, upgrades and removes Stoker's Debian packages in a new, empty Debian 12 with systemd; --help says how.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: tests/e2e/packages_root.sh [--root FOLDER] [--keep] [PACKAGES]

Shows that the packages in the folder PACKAGES (by default build/packages, where ./dev package puts them) name all that
they need: apt installs them in a new, minimal Debian 12. Its own systemd boots, and tests/e2e/packages/life.py has it run
the server, kill it, upgrade and remove it.

  --root FOLDER  where; it must not exist yet. Default: build/packages-root
  --keep         leave FOLDER there to look at; otherwise it is removed

Needs root, debootstrap, systemd-container and some 500 MB of Debian's mirror. Control groups are the host's: where it has
version 1 of them, no limits hold.
TEXT
}

die() {
  printf 'packages_root.sh: %s\n' "$*" >&2
  exit 1
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/debian_root.sh"
source "$here/packages/boot.sh"
source "$here/packages/bring.sh"
repository=$(cd "$here/../.." && pwd)
root=$repository/build/packages-root
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
packages=$(realpath "${1:-$repository/build/packages}")
compgen -G "$packages/*.deb" >/dev/null || die "there are no packages in $packages; ./dev package makes them"
why=$(why_no_debian_root)
why=${why:-$(why_no_boot)}
[[ -z $why ]] || die "$why"
[[ ! -e $root ]] || die "$root exists already; remove it or name another with --root"
trap '[[ $keep ]] || rm -rf --one-file-system "$root"' EXIT
trap 'exit 130' INT TERM

mkdir -p "$(dirname "$root")"
echo "== A new Debian 12 in $root"
make_debian_root bookworm "$root"
bring_packages "$packages" "$root/test"
# The machine that boots has no network, so what the packages need waits in apt's cache. python3, NumPy and openssl are
# the test's own.
in_debian_root "$root" '
  export DEBIAN_FRONTEND=noninteractive
  apt-get -q update
  apt-get -q install -y --no-install-recommends systemd-sysv dbus python3 python3-numpy openssl
  apt-get -q install -y --no-install-recommends --download-only /test/older/*.deb' >"$root/apt.log" ||
  die "apt failed: $(tail -n 20 "$root/apt.log")"
echo "== systemd boots it"
boot "$root" /usr/bin/python3 /test/life.py
