#!/usr/bin/env bash
# containerfile.sh CONTAINERFILE [PROGRAM]: what CONTAINERFILE copies is in the repository, what it installs is in
# Debian, and that covers the shared libraries which PROGRAM links.
set -euo pipefail

containerfile=$1 program=${2:-}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
result=0
fail() {
  echo "$containerfile: $*"
  result=1
}

# Its instructions, one a line.
instructions=$(sed -e '/^#/d' -e ':join' -e '/\\$/{N;s/\\\n//;b join}' "$containerfile")

mapfile -t copied < <(sed -nE 's/^COPY ([^-].*) [^ ]+$/\1/p' <<<"$instructions" | tr ' ' '\n')
((${#copied[@]} > 0)) || fail "copies nothing"
for path in "${copied[@]}"; do
  [[ -e $path ]] || fail "copies $path, which does not exist"
done

mapfile -t packages < <(sed -nE 's/^RUN .*apt-get install ([^&]*).*/\1/p' <<<"$instructions" | tr ' ' '\n' | grep '^[a-z]')
((${#packages[@]} > 0)) || fail "installs nothing"
if compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
  available=$(apt-cache policy "${packages[@]}" | awk '/^[^ ]/ {name = $1} /Candidate: [0-9]/ {print name}')
  for package in "${packages[@]}"; do
    grep -qxF "$package:" <<<"$available" || fail "installs $package, which Debian does not have"
  done
fi

# The package that owns a library as the loader finds it; /lib is a link to /usr/lib.
owner() {
  { dpkg -S "$1" 2>/dev/null || dpkg -S "/usr$1"; } | cut -d: -f1
}
if [[ -n $program ]]; then
  while read -r library; do
    # The packaged one, also where the program has another in its place.
    path=$(ldconfig -p | awk -v name="$library" '$1 == name && !n++ {print $NF}')
    package=$(owner "$path")
    [[ $package =~ ^(libc6|libgcc-s1)$ ]] || grep -qxF "$package" <(printf '%s\n' "${packages[@]}") ||
      fail "does not install $package, whose $library ${program##*/} links"
  done < <(objdump -p "$program" | awk '$1 == "NEEDED" && $2 !~ /^ld-linux/ {print $2}')
fi
exit "$result"
