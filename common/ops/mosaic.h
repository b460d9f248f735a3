#ifndef STOKER_COMMON_OPS_MOSAIC_H_
#define STOKER_COMMON_OPS_MOSAIC_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// An op that makes one sample of four: Bochkovskiy et al., "YOLOv4" (2020), as Ultralytics' YOLOv5 lays it out. Each
// image is resized, its aspect ratio kept, so that it just fits into a quarter of the canvas; it stands in its cell
// with one corner at the point where the four cells meet, and is cut at the cell's borders:
//
//   ┌───────────┬─────┐
//   │  ┌────────┼───┐ │   0 │ 1
//   │  │   0    │ 1 │ │   ──┼──
//   ├──┼────────┼───┴─┤   2 │ 3
//   │  │   2    │  3  │
//   └──┴────────┴─────┘   Cell 0 is the sample's own.
//
// What several samples take part in is no matter of one image's parameters. So a server draws a MosaicDraw, makes each
// cell by CellOps, and takes the canvas as the image on which the other ops draw (server/work/joiner.h).
template <>
struct Description<v1::Mosaic> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::Mosaic& op);
  static void FillDefaults(v1::Mosaic& op);
  static bool IsDeterministic(const v1::Mosaic&) { return false; }
  static std::optional<ImageSize> OutputSize(const v1::Mosaic& op, std::optional<ImageSize>);

  // Draws what becomes of an image that is left alone.
  static absl::Status Draw(const v1::Mosaic& op, Drawing& drawing);

  // Counts that of all four.
  static Cost CostOf(const v1::Mosaic& op, ImageSize input, ImageSize output);
};

inline constexpr int kMosaicCells = 4;

// What a Mosaic draws for one position. A plain value.
struct MosaicDraw {
  bool joins = false;           // whether four samples make one; otherwise the image is left alone
  int64_t row = 0, column = 0;  // of the canvas's first pixel below and right of where the cells meet
  std::array<uint64_t, kMosaicCells - 1> partners = {};  // the positions of the samples in cells 1 to 3
};

// Draws by `key`. Partners are drawn from the positions [first, first + count), each as likely as the others.
MosaicDraw DrawMosaic(const v1::Mosaic& op, const DrawKey& key, uint64_t first, uint64_t count);

// A part of the canvas.
struct MosaicCell {
  int64_t top = 0, left = 0;
  ImageSize size;
};

// Returns where an image stands: cell 0 ≤ `cell` < kMosaicCells, or the whole canvas where it is left alone.
MosaicCell CellOf(const v1::Mosaic& op, const MosaicDraw& draw, int cell);

// Returns what is done to an image of `size` that makes it the pixels of that cell.
std::vector<OpParameters> CellOps(const v1::Mosaic& op, const MosaicDraw& draw, int cell, ImageSize size);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_MOSAIC_H_
