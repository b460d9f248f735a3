#include "server/decode/jpeg_region.h"

#include <algorithm>
#include <cstring>

namespace stoker {
namespace {

constexpr int64_t kBlock = 8;
constexpr int64_t kSlack = YCbCrRow::kRowSlack;

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

ChromaHalving HalvingOf(const JpegFrame& frame) {
  if (frame.horizontal == 2) return frame.vertical == 2 ? ChromaHalving::kBoth : ChromaHalving::kHorizontal;
  return frame.vertical == 2 ? ChromaHalving::kVertical : ChromaHalving::kNone;
}

}  // namespace

std::optional<ImageSize> JpegRegionDecoder::Open(std::span<const uint8_t> file) {
  frame_ = ReadJpegFrame(file);
  if (!frame_.has_value() || !SetUp()) return std::nullopt;
  return frame_->size;
}

// The Huffman tables and the order of the blocks.
bool JpegRegionDecoder::SetUp() {
  halving_ = HalvingOf(*frame_);
  places_.clear();
  codes_.clear();
  for (size_t c = 0; c < frame_->components.size(); ++c) {
    const JpegComponent& component = frame_->components[c];
    Plane& plane = planes_[c];
    plane.width = CeilDivide(frame_->size.width * component.horizontal, frame_->horizontal);
    plane.height = CeilDivide(frame_->size.height * component.vertical, frame_->vertical);
    // So narrow an image libjpeg smooths in no direction.
    if (component.horizontal < frame_->horizontal && plane.width <= 2) return false;
    const HuffmanTable* dc = tables_.Get(component.dc, true);
    const HuffmanTable* ac = tables_.Get(component.ac, false);
    if (dc == nullptr || ac == nullptr) return false;
    for (int row = 0; row < component.vertical; ++row)
      for (int column = 0; column < component.horizontal; ++column) {
        places_.push_back({static_cast<int>(c), row, column});
        codes_.push_back({dc, ac, component.quantization.data(), static_cast<int>(c)});
      }
  }
  return true;
}

bool JpegRegionDecoder::Decode(const Region& needed, DecodedImage& image) {
  // From an even column on, so that chroma begins with a whole sample.
  const int64_t left = needed.left / frame_->horizontal * frame_->horizontal;
  image.Reset({needed.top, left, {needed.size.height, needed.right() - left}});
  Lay(image.region);
  if (!DecodeBlocks()) return false;
  Convert(image);
  return true;
}

// Gives each plane the blocks of its samples, and of their neighbors where chroma is halved.
void JpegRegionDecoder::Lay(const Region& needed) {
  for (size_t c = 0; c < frame_->components.size(); ++c) {
    Plane& plane = planes_[c];
    const int64_t across = frame_->horizontal / frame_->components[c].horizontal;
    const int64_t down = frame_->vertical / frame_->components[c].vertical;
    const int64_t reach_x = across - 1, reach_y = down - 1;
    const int64_t first_x = std::max<int64_t>(needed.left / across - reach_x, 0);
    const int64_t last_x = std::min((needed.right() - 1) / across + reach_x, plane.width - 1);
    const int64_t first_y = std::max<int64_t>(needed.top / down - reach_y, 0);
    const int64_t last_y = std::min((needed.bottom() - 1) / down + reach_y, plane.height - 1);
    plane.block_left = first_x / kBlock;
    plane.block_top = first_y / kBlock;
    plane.blocks_across = last_x / kBlock + 1 - plane.block_left;
    plane.blocks_down = last_y / kBlock + 1 - plane.block_top;
    plane.stride = plane.blocks_across * kBlock + 2 * kSlack;
    const size_t bytes = plane.stride * plane.blocks_down * kBlock + 2 * kSlack;
    if (plane.samples.size() < bytes) plane.samples.resize(bytes);
  }
}

bool JpegRegionDecoder::DecodeBlocks() {
  scan_.Start(frame_->scan, frame_->restart_interval, codes_);
  batched_ = 0;
  std::fill(coefficients_.begin(), coefficients_.end(), 0);
  int64_t top = INT64_MAX, left = INT64_MAX, bottom = 0, right = 0;  // MCUs
  for (size_t c = 0; c < frame_->components.size(); ++c) {
    const Plane& plane = planes_[c];
    const int64_t across = frame_->components[c].horizontal, down = frame_->components[c].vertical;
    top = std::min(top, plane.block_top / down);
    left = std::min(left, plane.block_left / across);
    bottom = std::max(bottom, (plane.block_top + plane.blocks_down - 1) / down + 1);
    right = std::max(right, (plane.block_left + plane.blocks_across - 1) / across + 1);
  }
  const int64_t row_mcus = frame_->mcus_across();
  for (int64_t row = top; row < bottom; ++row) {
    if (!scan_.AdvanceTo(row * row_mcus + left)) return false;
    for (int64_t column = left; column < right; ++column)
      if (!DecodeMcu(row, column)) return false;
  }
  Transform();
  for (size_t c = 0; c < frame_->components.size(); ++c) RepeatEdges(planes_[c]);
  return true;
}

bool JpegRegionDecoder::DecodeMcu(int64_t mcu_row, int64_t mcu_column) {
  if (!scan_.BeginMcu()) return false;
  for (size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    const JpegComponent& component = frame_->components[place.component];
    const int64_t y = mcu_row * component.vertical + place.row, x = mcu_column * component.horizontal + place.column;
    Plane& plane = planes_[place.component];
    if (!plane.Has(y, x)) {
      if (!scan_.WalkBlock(static_cast<int>(i))) return false;
      continue;
    }
    int16_t* block = &coefficients_[64 * batched_];
    const int last = scan_.DecodeBlock(static_cast<int>(i), block);
    if (last < 0) return false;
    const BlockTarget target = {plane.Row(y * kBlock) + x * kBlock, plane.stride};
    if (last == 0) {
      FillBlock(block[0], target);
      block[0] = 0;
    } else {
      targets_[batched_] = target;
      if (++batched_ == kBatch) Transform();
    }
  }
  scan_.EndMcu();
  return true;
}

void JpegRegionDecoder::Transform() {
  InverseDct(coefficients_.data(), std::span(targets_).first(batched_));
  batched_ = 0;
}

// Samples beyond the image's left and right border are those of the border.
void JpegRegionDecoder::RepeatEdges(Plane& plane) {
  const int64_t left = plane.block_left * kBlock, right = left + plane.blocks_across * kBlock;
  const int64_t bottom = std::min((plane.block_top + plane.blocks_down) * kBlock, plane.height);
  for (int64_t y = plane.block_top * kBlock; y < bottom; ++y) {
    uint8_t* row = plane.Row(y);
    if (left == 0) row[-1] = row[0];
    if (right >= plane.width) row[plane.width] = row[plane.width - 1];
  }
}

void JpegRegionDecoder::Convert(DecodedImage& image) {
  const Region& region = image.region;
  uint8_t* out = image.pixels.data();
  const bool halved_down = frame_->vertical == 2;
  for (int64_t y = region.top; y < region.bottom(); ++y, out += region.size.width * DecodedImage::kPixelBytes) {
    const uint8_t* luma = planes_[0].Row(y) + region.left;
    if (frame_->components.size() == 1) {
      GrayToRgbx(luma, region.size.width, out);
      continue;
    }
    YCbCrRow row = {.luma = luma};
    for (int c : {0, 1}) {
      Plane& plane = planes_[c + 1];
      const int64_t near = halved_down ? y / 2 : y;
      const int64_t far = halved_down ? std::clamp<int64_t>(near + (y % 2 == 0 ? -1 : 1), 0, plane.height - 1) : near;
      row.near[c] = plane.Row(near) + region.left / frame_->horizontal;
      row.far[c] = plane.Row(far) + region.left / frame_->horizontal;
    }
    row.far_bias = y % 2 == 0 ? 1 : 2;
    YCbCrToRgbx(row, halving_, region.size.width, out);
  }
}

}  // namespace stoker
