#include "server/decode/jpeg_region.h"

#include <algorithm>
#include <cstring>

namespace stoker {
namespace {

constexpr int64_t kRowSlack = YCbCrRow::kRowSlack;

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool HalvesAcross(ChromaHalving halving) {
  return halving == ChromaHalving::kHorizontal || halving == ChromaHalving::kBoth;
}
bool HalvesDown(ChromaHalving halving) {
  return halving == ChromaHalving::kVertical || halving == ChromaHalving::kBoth;
}

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

// Gets the Huffman tables and notes the order of the blocks.
bool JpegRegionDecoder::SetUp() {
  places_.clear();
  codes_.clear();
  for (size_t c = 0; c < frame_->components.size(); ++c) {
    const JpegComponent& component = frame_->components[c];
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

// Gives each plane its size. At a reduced size, chroma that is halved on both axes is decoded to blocks of twice luma's
// size, as libjpeg does it, and then needs no upsampling.
bool JpegRegionDecoder::Scale(int eighths) {
  halving_ = HalvingOf(*frame_);
  const bool doubled = halving_ == ChromaHalving::kBoth && eighths < 8;
  if (doubled) halving_ = ChromaHalving::kNone;
  if (halving_ != ChromaHalving::kNone && eighths == 1) return false;  // At this size libjpeg does not smooth chroma.
  for (size_t c = 0; c < frame_->components.size(); ++c) {
    Plane& plane = planes_[c];
    const JpegComponent& component = frame_->components[c];
    plane.size = c > 0 && doubled ? 2 * eighths : eighths;
    plane.width = CeilDivide(frame_->size.width * component.horizontal * plane.size, frame_->horizontal * 8);
    plane.height = CeilDivide(frame_->size.height * component.vertical * plane.size, frame_->vertical * 8);
    // libjpeg does not smooth the chroma of so narrow an image.
    if (c > 0 && HalvesAcross(halving_) && plane.width <= 2) return false;
  }
  return true;
}

bool JpegRegionDecoder::Decode(const DecodeTarget& target, DecodedImage& image, const Interrupt& interrupt) {
  if (!Scale(target.eighths)) return false;
  Region region = Reduced(target.needed, target.eighths);
  // The region begins at an even column, so that chroma begins with a whole sample.
  if (HalvesAcross(halving_) && region.left % 2 != 0) --region.left, ++region.size.width;
  image.Reset(region, target.eighths);
  Lay(region);
  if (!DecodeBlocks(interrupt)) return false;
  Convert(image);
  return true;
}

// Gives each plane the blocks that hold the samples of `needed` and, where chroma is halved, their neighbors.
void JpegRegionDecoder::Lay(const Region& needed) {
  for (size_t c = 0; c < frame_->components.size(); ++c) {
    Plane& plane = planes_[c];
    const int64_t reach_x = c > 0 && HalvesAcross(halving_) ? 1 : 0, across = 1 + reach_x;
    const int64_t reach_y = c > 0 && HalvesDown(halving_) ? 1 : 0, down = 1 + reach_y;
    const int64_t first_x = std::max<int64_t>(needed.left / across - reach_x, 0);
    const int64_t last_x = std::min((needed.right() - 1) / across + reach_x, plane.width - 1);
    const int64_t first_y = std::max<int64_t>(needed.top / down - reach_y, 0);
    const int64_t last_y = std::min((needed.bottom() - 1) / down + reach_y, plane.height - 1);
    plane.block_left = first_x / plane.size;
    plane.block_top = first_y / plane.size;
    plane.blocks_across = last_x / plane.size + 1 - plane.block_left;
    plane.blocks_down = last_y / plane.size + 1 - plane.block_top;
    plane.stride = plane.blocks_across * plane.size + 2 * kRowSlack;
    const size_t bytes = plane.stride * plane.blocks_down * plane.size + 2 * kRowSlack;
    if (plane.samples.size() < bytes) plane.samples.resize(bytes);
  }
}

bool JpegRegionDecoder::DecodeBlocks(const Interrupt& interrupt) {
  scan_.Start(frame_->scan, frame_->restart_interval, codes_);
  int64_t top = INT64_MAX, left = INT64_MAX, bottom = 0, right = 0;  // in MCUs
  for (size_t c = 0; c < frame_->components.size(); ++c) {
    const Plane& plane = planes_[c];
    const int64_t across = frame_->components[c].horizontal, down = frame_->components[c].vertical;
    top = std::min(top, plane.block_top / down);
    left = std::min(left, plane.block_left / across);
    bottom = std::max(bottom, (plane.block_top + plane.blocks_down - 1) / down + 1);
    right = std::max(right, (plane.block_left + plane.blocks_across - 1) / across + 1);
    batches_[c].blocks = 0;
    batches_[c].coefficients.fill(0);
  }
  const int64_t row_mcus = frame_->mcus_across();
  for (int64_t row = top; row < bottom; ++row) {
    if (InterruptedAt(row, interrupt) || !scan_.AdvanceTo(row * row_mcus + left)) return false;
    for (int64_t column = left; column < right; ++column)
      if (!DecodeMcu(row, column)) return false;
  }
  if (scan_.cut()) return false;
  for (size_t c = 0; c < frame_->components.size(); ++c) {
    Transform(c);
    RepeatEdges(planes_[c]);
  }
  return true;
}

bool JpegRegionDecoder::DecodeMcu(int64_t mcu_row, int64_t mcu_column) {
  if (!scan_.BeginMcu()) return false;
  for (int i = 0; i < std::ssize(places_); ++i) {
    const Place& place = places_[i];
    const JpegComponent& component = frame_->components[place.component];
    const int64_t y = mcu_row * component.vertical + place.row, x = mcu_column * component.horizontal + place.column;
    Plane& plane = planes_[place.component];
    const bool done = plane.Has(y, x) ? DecodeBlock(i, {plane.Row(y * plane.size) + x * plane.size, plane.stride})
                                      : scan_.WalkBlock(i);
    if (!done) return false;
  }
  scan_.EndMcu();
  return true;
}

bool JpegRegionDecoder::DecodeBlock(int place, const BlockTarget& target) {
  const size_t component = places_[place].component;
  const int size = planes_[component].size;
  if (size == 1) {
    int16_t dc;
    if (!scan_.DecodeDc(place, dc)) return false;
    FillBlock(dc, size, target);
    return true;
  }
  Batch& batch = batches_[component];
  int16_t* block = &batch.coefficients[64 * batch.blocks];
  const int last = scan_.DecodeBlock(place, block);
  if (last < 0) return false;
  if (last == 0) {
    FillBlock(block[0], size, target);
    block[0] = 0;
  } else {
    batch.targets[batch.blocks] = target;
    if (++batch.blocks == Batch::kMost) Transform(component);
  }
  return true;
}

void JpegRegionDecoder::Transform(size_t component) {
  Batch& batch = batches_[component];
  InverseDct(batch.coefficients.data(), planes_[component].size, std::span(batch.targets).first(batch.blocks));
  batch.blocks = 0;
}

// Repeats the samples at the image's left and right border once beyond it.
void JpegRegionDecoder::RepeatEdges(Plane& plane) {
  const int64_t left = plane.block_left * plane.size, right = left + plane.blocks_across * plane.size;
  const int64_t bottom = std::min((plane.block_top + plane.blocks_down) * plane.size, plane.height);
  for (int64_t y = plane.block_top * plane.size; y < bottom; ++y) {
    uint8_t* row = plane.Row(y);
    if (left == 0) row[-1] = row[0];
    if (right >= plane.width) row[plane.width] = row[plane.width - 1];
  }
}

void JpegRegionDecoder::Convert(DecodedImage& image) {
  const Region& region = image.region;
  uint8_t* out = image.pixels.data();
  const bool halved_down = HalvesDown(halving_);
  for (int64_t y = region.top; y < region.bottom(); ++y, out += region.size.width * DecodedImage::kPixelBytes) {
    const uint8_t* luma = planes_[0].Row(y) + region.left;
    if (frame_->components.size() == 1) {
      GrayToRgbx(luma, region.size.width, out);
      continue;
    }
    const int64_t chroma_left = HalvesAcross(halving_) ? region.left / 2 : region.left;
    YCbCrRow row = {.luma = luma};
    for (int c : {0, 1}) {
      Plane& plane = planes_[c + 1];
      const int64_t near = halved_down ? y / 2 : y;
      const int64_t far = halved_down ? std::clamp<int64_t>(near + (y % 2 == 0 ? -1 : 1), 0, plane.height - 1) : near;
      row.near[c] = plane.Row(near) + chroma_left;
      row.far[c] = plane.Row(far) + chroma_left;
    }
    row.far_bias = y % 2 == 0 ? 1 : 2;
    YCbCrToRgbx(row, halving_, region.size.width, out);
  }
}

}  // namespace stoker
