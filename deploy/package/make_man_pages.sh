#!/usr/bin/env bash
# make_man_pages.sh BIN FOLDER: manual pages of the programs stokerd and stoker in BIN, and of each of their commands,
# from what they print at --help. debian/rules runs this.
set -euo pipefail

bin=$1 folder=$2
mkdir -p "$folder"

# page COMMAND...: the page of a program or of a program's command, which --help describes in its first line.
page() {
  local program=$1 name=${*// /-} about
  name=$(IFS=-; echo "$*")
  about=$("$bin/$program" "${@:2}" --help | head -n 1)
  about=${about%.}
  help2man --no-info --section 1 --manual "Stoker" --source "$program $version" --version-string "$version" \
    --name "${about,}" "$(printf '%q ' "$bin/$program" "${@:2}")" |
    sed -E "s/^\.TH [A-Z]+/.TH ${name^^}/; /^\.SH NAME/ {n; s/^[^\\]*/$name /}" >"$folder/$name.1"
}

for program in stokerd stoker; do
  version=$("$bin/$program" --version | sed -nE '1s/^[a-z]+ ([0-9.]+).*/\1/p')
  page "$program"
  while read -r command; do page "$program" "$command"; done < <(
    "$bin/$program" --help | sed -nE '/^Subcommands:/,/^$/ s/^  ([a-z]+) .*/\1/p'
  )
done
