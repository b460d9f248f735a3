#include "server/plugin/python_batch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

// What asks for an op with longer values goes by itself, so that a request stays short.
constexpr size_t kMostValueBytes = 4096;

size_t Aligned(size_t bytes) { return (bytes + kImageAlignment - 1) / kImageAlignment * kImageAlignment; }

}  // namespace

uint8_t* PythonBatch::Add(const OwnParameters& own, ImageSize size) {
  const auto* const op = dynamic_cast<const PythonOp*>(own.op);
  if (op == nullptr || op->processes() != processes_.get() || images_.size() == PythonRoom::kMostImages) return nullptr;
  Image image = {op, PythonOp::CodeValues(own.values), own.key, size, own.size, end()};
  image.out = size == own.size ? image.in : image.in + Aligned(PixelBytes(size));
  image.end = image.out + Aligned(PixelBytes(own.size));
  if (image.end > PythonRoom::kBytes || image.values.size() > kMostValueBytes) return nullptr;
  images_.push_back(std::move(image));
  return room_.At(images_.back().in);
}

bool PythonBatch::full() const {
  return images_.size() == PythonRoom::kMostImages ||
         (!images_.empty() && 2 * end() - images_.back().in > PythonRoom::kBytes);
}

void PythonBatch::Truncate(size_t count) { images_.resize(std::min(count, images_.size())); }

void PythonBatch::Run(const std::function<bool()>& stop) {
  std::vector<PythonProcess::Image> images;
  for (const Image& image : images_)
    images.push_back(
        {{image.op->number(), image.values}, image.key, image.size, image.size_after, image.in, image.out});
  room_.Clear();
  status_ = processes_->With(
      [&](PythonProcess& process) { return process.ApplyAll(room_, static_cast<uint32_t>(number_), images, stop); });
  results_.clear();
  // The process may still write; what it wrote is looked at once.
  for (size_t i = 0; i < images_.size(); ++i) results_.push_back(room_.ResultOf(i));
}

absl::StatusOr<uint8_t*> PythonBatch::Made(size_t i) const {
  using Kind = PythonRoom::Result::Kind;
  const Image& image = images_[i];
  const PythonRoom::Result& result = results_[i];
  switch (result.kind) {
    case Kind::kOk: break;
    case Kind::kBadSample: return image.op->Blame(absl::DataLossError(result.text));
    case Kind::kFailed: return image.op->Blame(absl::AbortedError(result.text));
    case Kind::kMissing:
      return image.op->Blame(status_.ok() ? absl::InternalError("its process left the image out") : status_);
  }
  if (result.in_place && image.size != image.size_after)
    return image.op->Blame(absl::InternalError("its process answered with an image of another size"));
  return room_.At(result.in_place ? image.in : image.out);
}

}  // namespace stoker
