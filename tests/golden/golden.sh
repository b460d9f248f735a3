#!/usr/bin/env bash
# golden.sh SERVER_BIN[,SERVER_BIN] CLIENT_BIN [--print]: the digests of many small epochs, and what servers say of their
# datasets, are those of expected.txt, which was written before the tree was rearranged in November 2026.
#
# Each SERVER_BIN is a folder with stokerd, the first also with make-photo-folder, and CLIENT_BIN one with stoker; they
# may come from builds of different age. --print writes what came out instead of comparing it. A line of expected.txt
# changes only with a page of docs/decisions that says why. What stands below "Since the baseline" has ops that it does not
# know: that is looked at only where SERVER_BIN is CLIENT_BIN.
set -euo pipefail

IFS=, read -ra server_bins <<<"$1"
readonly server_bin=${server_bins[0]} client_bin=$2 mode=${3:-compare}
one_build=
[[ $1 != "$2" ]] || one_build=yes
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here corpus=$here/../fuzz/corpus
for program in "${server_bins[@]/%//stokerd}" "$client_bin/stoker"; do
  [[ -x $program ]] || { echo "SKIPPED: there is no $program"; exit 77; }
done
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"

# ---- Datasets: paintings, one of which is cut off; files of each format; what `prepare` makes; made-up samples. ----
"$server_bin/make-photo-folder" photos --classes 3 --images 4 --width 160 --height 120 >/dev/null
cp -r photos damaged
truncate -s 1500 damaged/class-01/image-0002.jpg

# copy FORMAT ENDING FILE...: files of the decoder's corpus as a class of the dataset `formats`.
copy() {
  local format=$1 ending=$2 file
  shift 2
  mkdir -p "formats/$format"
  for file in "$@"; do cp "$corpus/$format/$file" "formats/$format/$file.$ending"; done
}
copy jpeg jpg jpeg_410 jpeg_411 jpeg_420 jpeg_420_arithmetic jpeg_420_progressive jpeg_420_restarts jpeg_422 jpeg_440 \
  jpeg_444 jpeg_cmyk jpeg_exif_rotated jpeg_gray jpeg_gray_progressive jpeg_no_huffman_tables jpeg_rgb jpeg_ycck
copy png png png_gray1 png_gray16 png_gray16_alpha png_gray16_interlaced png_gray2 png_gray4 png_gray8 \
  png_gray8_alpha png_palette1 png_palette2 png_palette4 png_palette8_transparent png_rgb16 png_rgb8 \
  png_rgb8_interlaced png_rgb8_transparent_color png_rgba16 png_rgba8
copy webp webp webp_lossless webp_lossless_alpha webp_lossy webp_lossy_alpha

echo 'ops: [Resize: {size: [72, 96]}, CenterCrop: {size: 64}]' >prefix.yaml
"$server_bin/stokerd" prepare --data photos --out lossless >/dev/null 2>&1
"$server_bin/stokerd" prepare --data photos --out shorter --short-side 80 >/dev/null 2>&1
"$server_bin/stokerd" prepare --data photos --out pixels --pipeline prefix.yaml >/dev/null 2>&1

cat >server.yaml <<'YAML'
listen: 127.0.0.1:0
workers: 2
memory_limit: 2GiB
datasets:
  - image_folder: {path: photos}
  - image_folder: {path: damaged}
  - image_folder: {path: formats}
  - image_folder: {path: lossless}
  - image_folder: {path: shorter}
  - image_folder: {path: pixels}
  - name: noise
    synthetic:
      samples: 301
      fields: [{name: image, dtype: uint8, shape: [16, 12, 3]}, {name: number, dtype: int32}]
YAML
if [[ $one_build ]]; then
  # Boxes with as many labels, and what else lies on an image.
  cat >>server.yaml <<'YAML'
  - name: objects
    synthetic:
      samples: 301
      fields:
        - {name: boxes, kind: boxes, max_bytes: "80", typical_bytes: "80"}
        - {name: image, dtype: uint8, shape: [48, 64, 3]}
        - {name: labels, kind: ragged, dtype: int64, max_bytes: "40", typical_bytes: "40"}
        - {name: points, kind: keypoints, max_bytes: "64"}
        - {name: surface, kind: label_map, dtype: uint8, shape: [48, 64]}
YAML
fi
servers=
for index in "${!server_bins[@]}"; do
  : >"address-$index"
  "${server_bins[index]}/stokerd" serve --config server.yaml --cache-dir "cache-$index" >"address-$index" 2>"log-$index" &
  until grep -q '^listening on' "address-$index"; do
    kill -0 $! 2>/dev/null || { cat "log-$index" >&2; exit 1; }
    sleep 0.05
  done
  servers+=${servers:+,}$(sed -n 's/^listening on //p' "address-$index")
done
readonly servers

# ---- Figures ----
# figure NAME ARGUMENT...: a digest of one epoch, by `stoker digest ARGUMENT...`.
figure() {
  local name=$1
  shift
  printf '%s %s\n' "$name" "$("$client_bin/stoker" digest --servers "$servers" "$@" 2>&1)"
}

# Reads pipelines, one a line, from stdin.
figures_of_pipelines() {
  local name pipeline
  while IFS= read -r pipeline; do
    [[ $pipeline != \#* ]] || continue
    name=${pipeline%%:*}
    printf '%s\n' "${pipeline#*: }" >"$name.yaml"
    figure "photos/$name" --dataset photos --pipeline "$name.yaml" --seed 5
  done
}

since='# Since the baseline'

figures() {
  local name dataset
  figures_of_pipelines < <(sed "/^$since/,\$d" "$here/pipelines.txt")
  figure photos/default --dataset photos
  figure photos/epoch-1 --dataset photos --pipeline k2.yaml --seed 5 --epoch 1
  figure photos/seed-18446744073709551615 --dataset photos --pipeline k2.yaml --seed 18446744073709551615
  figure photos/shuffle-none --dataset photos --pipeline k2.yaml --shuffle none
  figure photos/shuffle-block --dataset photos --pipeline k2.yaml --shuffle block
  for dataset in lossless shorter pixels; do
    figure "$dataset/evaluation" --dataset "$dataset" --pipeline prefix.yaml
  done
  sed 's/}$/, bad_samples: substitute}/' k2.yaml >substitute.yaml
  figure damaged/substitute --dataset damaged --pipeline substitute.yaml
  echo '{ops: [Resize: {size: [8, 9]}, RandomHorizontalFlip: ], bad_samples: substitute}' >small.yaml
  figure formats/small --dataset formats --pipeline small.yaml
  echo '{ops: [RandomResizedCrop: {size: 8}, RandomHorizontalFlip: ]}' >noise.yaml
  for shuffle in full block none; do
    figure "noise/$shuffle" --dataset noise --pipeline noise.yaml --shuffle "$shuffle"
  done
  # What jobs compare: fingerprints, pixel check, fields and span sizes.
  for dataset in photos formats lossless shorter pixels noise; do
    name=noise.yaml
    [[ $dataset != pixels ]] || name=prefix.yaml
    "$client_bin/stoker" describe --servers "$servers" --dataset "$dataset" --pipeline "$name" |
      sed -e '/^server /,$d' -e "s|^|describe/$dataset |"
  done
  if [[ $one_build ]]; then
    echo "$since"
    figures_of_pipelines < <(sed "1,/^$since/d" "$here/pipelines.txt")
    echo 'ops: [RandomZoomOut: {side_range: [1, 2]}, RandomIoUCrop: {labels: [labels]}, Resize: {size: [24, 32]},
      RandomHorizontalFlip: , SanitizeBoundingBoxes: {labels: [labels]}]' >iou_crop.yaml
    figure objects/iou_crop --dataset objects --pipeline iou_crop.yaml --seed 5
  fi
}

figures >figures
if [[ $mode == --print ]]; then
  cat figures
else
  if [[ $one_build ]]; then cat "$here/expected.txt"; else sed "/^$since/,\$d" "$here/expected.txt"; fi >expected
  diff expected figures || {
    echo "An epoch is no longer the one that it was: < is expected, > came out." >&2
    exit 1
  }
  echo "$(grep -vc '^#' figures) figures are as they were"
fi
