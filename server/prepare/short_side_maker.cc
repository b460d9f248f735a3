#include "server/prepare/short_side_maker.h"

#include <algorithm>

#include "common/ops/ops.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

v1::PreparedLossless LayoutOf(const v1::PreparedShortSide& settings) {
  v1::PreparedLossless layout;
  layout.set_restart_interval(settings.restart_interval());
  layout.set_strip(settings.strip());
  return layout;
}

}  // namespace

ShortSideMaker::ShortSideMaker(const v1::PreparedShortSide& settings)
    : settings_(settings), lossless_(LayoutOf(settings)) {}

absl::StatusOr<MadeFile> ShortSideMaker::Make(std::span<const uint8_t> file) {
  const auto size = decoder_.Open(file, LosslessMaker::StrictDecoding());
  if (!size.ok() || std::min(size->height, size->width) <= settings_.size()) return lossless_.Make(file);
  auto reduced = Reduce(*size, file);
  if (reduced.ok()) return MadeFile{.bytes = *std::move(reduced)};
  if (!absl::IsDataLoss(reduced.status())) return reduced.status();
  return MadeFile{.problem = std::string(reduced.status().message())};
}

absl::StatusOr<std::vector<uint8_t>> ShortSideMaker::Reduce(ImageSize size, std::span<const uint8_t> file) {
  v1::Op resize;
  resize.mutable_resize()->add_size(static_cast<int>(settings_.size()));
  std::vector<OpParameters> ops;
  ImageSize reduced = size;
  STOKER_RETURN_IF_ERROR(DrawOp(resize, {}, reduced, ops));
  const ImagePlan plan = ImagePlan::Make(size, ops, v1::JPEG_SCALING_EXACT);
  STOKER_RETURN_IF_ERROR(decoder_.Decode(plan.target(), image_));
  reduced_.resize(reduced.height * reduced.width * 3);
  STOKER_RETURN_IF_ERROR(augmenter_.Apply(plan, SourceOf(image_), reduced_));
  const JpegLayout layout = {static_cast<int>(settings_.restart_interval()), settings_.strip()};
  return CompressJpeg(reduced_, reduced, static_cast<int>(settings_.quality()), layout, file);
}

}  // namespace stoker
