# shellcheck shell=bash
# Sourced by scripts that make something once for all checkouts of this user. What they make is named after what it is
# made of, so that another version stands beside it, and nothing that is there is ever changed. All of it may be removed.
#
#   $cache              the folder: $STOKER_CACHE, or stoker-dev in the user's cache
#   named_after NAME    NAME and a hash of stdin
#   alone FOLDER        returns when no other process is making FOLDER
STOKER_CACHE=${STOKER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stoker-dev}
cache=$(realpath -m "$STOKER_CACHE")

named_after() { printf '%s-%s\n' "$1" "$(sha256sum | cut -c 1-16)"; }

alone() {
  local lock
  mkdir -p "$cache"
  exec {lock}>"$1.lock"
  flock "$lock"
}
