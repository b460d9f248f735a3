# shellcheck shell=bash
# Sourced: bring_packages PACKAGES FOLDER puts what life.py needs into FOLDER: itself, the page whose commands it runs,
# and the packages in PACKAGES, in `older`, and such of a higher version with another sample configuration, in `newer`.
bring_packages() {
  local packages=$1 folder=$2 here package tree version
  here=$(dirname "${BASH_SOURCE[0]}")
  mkdir -p "$folder/newer"
  cp "$here/life.py" "$here/../../../docs/deploy/systemd.md" "$folder"
  cp -r "$packages" "$folder/older"
  tree=$(mktemp -d)
  for package in "$packages"/*.deb; do
    version=$(dpkg-deb -f "$package" Version)
    rm -rf "$tree"
    dpkg-deb --raw-extract "$package" "$tree"
    # In the dependencies too, which name the very version.
    sed -i "s/$version/&+newer/" "$tree/DEBIAN/control"
    [[ ! -e $tree/usr/share/stoker/stokerd.yaml ]] || echo "# This is newer." >>"$tree/usr/share/stoker/stokerd.yaml"
    dpkg-deb -Znone --root-owner-group --build "$tree" "$folder/newer" >/dev/null
  done
  rm -rf "$tree"
}
