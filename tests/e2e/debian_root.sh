# shellcheck shell=bash
# Sourced: roots of Debian, made with debootstrap from the mirror, proxies and host names of this machine's apt. pip trusts
# there whom this machine trusts. Needs root.
#
#   make_debian_root SUITE FOLDER   a minimal one of SUITE ("bookworm") in FOLDER, which must not exist yet
#   in_debian_root FOLDER COMMAND   a shell's COMMAND in it, with nothing of this machine's environment

# Why there can be none here; nothing where there can.
why_no_debian_root() {
  if ((EUID != 0)); then
    echo "needs root, to make a root filesystem and enter it"
  elif ! command -v debootstrap >/dev/null; then
    echo "needs debootstrap: apt-get install debootstrap"
  fi
}

make_debian_root() {
  local suite=$1 root=$2 keys=/usr/share/keyrings/debian-archive-keyring.gpg sources mirror
  # shellcheck disable=SC2016  # They are apt's variables.
  sources=$(apt-get indextargets --no-release-info --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' | grep -E ' bookworm(-updates|-security)? main$' | sort -u)
  mirror=$(awk '$3 == "bookworm" {print $2; exit}' <<<"$sources")
  if [[ -z $mirror ]]; then
    echo "this machine's apt knows no mirror of Debian 12" >&2
    return 1
  fi
  eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
  unshare --mount env ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    debootstrap --variant=minbase --keyring="$keys" "$suite" "$root" "$mirror" >"$root.log" || {
    echo "debootstrap failed; $root.log says more" >&2
    return 1
  }
  rm "$root.log"
  # shellcheck disable=SC2001  # Every line of several.
  sed "s/ bookworm/ $suite/" <<<"$sources" >"$root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::(https?::|Check-)' >"$root/etc/apt/apt.conf.d/90this-machine" || true
  cp -L /etc/hosts /etc/resolv.conf "$root/etc/"
  cp -L "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$root/etc/pip-trusts.crt" 2>/dev/null || true
}

in_debian_root() {
  # shellcheck disable=SC2016  # The inner shell's own.
  unshare --mount --pid --fork --kill-child --mount-proc="$1/proc" bash -euc '
    mount -t sysfs -o ro sysfs "$0/sys"
    mount -t tmpfs tmpfs "$0/dev/shm"
    mount -t devpts devpts "$0/dev/pts"
    exec chroot "$0" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
      $([[ ! -e $0/etc/pip-trusts.crt ]] || echo PIP_CERT=/etc/pip-trusts.crt) bash -euc "$1"' "$1" "$2"
}
