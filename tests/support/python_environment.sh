# shellcheck shell=bash
# Sourced: environments for Python in the user's cache, each made once.
#
#   environment_of NAME FILE...   the folder for what these files say, and this machine's Python
#   make_once FOLDER FILE      makes the environment FOLDER with what FILE lists, unless it is there, and prints FOLDER. The
#                              other functions are its steps
#   make_environment FOLDER    makes the virtual environment FOLDER
#   install FOLDER FILE [PIP-ARGUMENT...]   installs into it what FILE lists, a pip requirement a line. A package that
#                              cannot be installed is named and left out
#   finish FOLDER              FOLDER is there from now on, for is_made and, if nothing was left out, for is_whole
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/cache_folder.sh"

environment_of() { echo "$cache/$(cat - "${@:2}" <<<"$(/usr/bin/python3 --version 2>&1)" | named_after "$1")"; }

is_made() { [[ -e $1/made ]]; }
is_whole() { [[ -e $1/whole ]]; }

make_environment() {
  left_out=
  mkdir -p "$1"
  rm -f "$1/made"
  /usr/bin/python3 -m venv "$1"
}

install() {
  local pip=("$1/bin/pip" install --quiet --disable-pip-version-check "${@:3}") package
  # All at once is faster, but leaves all out where one fails.
  ! "${pip[@]}" -r "$2" || return 0
  while read -r package; do
    [[ -n $package && $package != \#* ]] || continue
    echo "  $package"
    "${pip[@]}" -c "$2" "$package" || left_out+=" $package"
  done <"$2"
}

finish() {
  touch "$1/made"
  if [[ -n $left_out ]]; then
    echo "not installed, hence left out, and tried again by the next run:$left_out"
  else
    touch "$1/whole"
  fi
}

make_once() {
  is_whole "$1" || alone "$1"
  is_whole "$1" || {
    echo "Installing what ${2#"$PWD/"} lists into $1, once; this may take some minutes"
    make_environment "$1"
    install "$1" "$2"
    finish "$1"
  } >&2
  echo "$1"
}
