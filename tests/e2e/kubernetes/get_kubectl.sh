#!/usr/bin/env bash
# get_kubectl.sh: prints the folder with the kubectl of Debian's kubernetes-client, which is unpacked into the user's
# cache, once, and not installed, since a machine may have a kubectl of another package in its place.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../cmake/cache_folder.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../../cmake/debian_sources.sh"

folder=$cache/$(named_after kubectl <"${BASH_SOURCE[0]}")
make() {
  enter "$folder"
  use_mirror deb
  (cd "$work" && "${apt[@]}" download kubernetes-client)
  dpkg-deb --extract "$work"/kubernetes-client_*.deb "$work/lib"
  leave "$folder"
}
(make >&2)
echo "$folder/usr/bin"
