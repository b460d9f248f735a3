#!/usr/bin/env bash
# life.sh PACKAGES: boots this machine's own root filesystem under an overlay that is thrown away, with systemd, and has
# life.py install, use, upgrade and remove the Debian packages in it. So nothing is downloaded; that the packages name
# all that they need is shown by packages_root.sh, in a root that has nothing. Exits with 77 where that cannot be.
set -euo pipefail

packages=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/boot.sh"
source "$here/bring.sh"
why=$(why_no_boot)
compgen -G "$packages/*.deb" >/dev/null || why="there are no packages in $packages"
if [[ $why ]]; then
  echo "SKIPPED: $why"
  exit 77
fi

# All of it lives in a namespace of mounts, and in memory.
if [[ ${IN_NAMESPACE:-} != yes ]]; then
  IN_NAMESPACE=yes exec unshare --mount "${BASH_SOURCE[0]}" "$packages"
fi
work=$(mktemp -d)
trap 'umount -l "$work" && rmdir "$work"' EXIT
mount -t tmpfs tmpfs "$work"
mkdir "$work"/{upper,work,root}
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$work/root" || {
  echo "SKIPPED: this machine mounts no overlay over its root"
  exit 77
}
bring_packages "$packages" "$work/root/test"
boot "$work/root" /usr/bin/python3 /test/life.py
