#include <xxhash.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/plugin/op_library.h"
#include "server/plugin/trial.h"

namespace stoker {
namespace {

constexpr ImageSize kSizes[] = {kTrialSize, {256, 231}};

size_t Bytes(ImageSize size) { return size.height * size.width * 3; }

// Returns an image in which colors change slowly, with noise in its right half.
std::vector<uint8_t> Image(ImageSize size) {
  std::vector<uint8_t> pixels;
  pixels.reserve(Bytes(size));
  Draws noise({.seed = 1});
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < size.width; ++x)
      for (int64_t channel = 0; channel < 3; ++channel)
        pixels.push_back(static_cast<uint8_t>(x < size.width / 2 ? 4 * x + 3 * y + 50 * channel : noise.Bits()));
  return pixels;
}

absl::Status Blame(const LoadedOp& op, const absl::Status& status) {
  return {status.code(), absl::StrCat("op '", op.name(), "', at its trial with default arguments: ", status.message())};
}

}  // namespace

absl::StatusOr<uint64_t> CheckOp(const LoadedOp& op) {
  std::vector<OwnValue> values;
  for (const LoadedOp::Argument& argument : op.arguments()) values.push_back(argument.otherwise);
  if (const absl::Status status = op.Check(values); !status.ok()) return Blame(op, status);
  std::vector<uint8_t> all;
  for (const ImageSize size : kSizes) {
    const auto after = op.SizeAfter(values, size);
    if (!after.ok()) return Blame(op, after.status());
    const std::vector<uint8_t> image = Image(size);
    // What an op leaves unwritten differs between the two tries.
    std::vector<uint8_t> in = image, first(Bytes(*after), 0x55), second(Bytes(*after), 0xaa);
    bool bad_sample = false;
    for (std::vector<uint8_t>* out : {&first, &second}) {
      const absl::Status status = op.Apply(values, {.position = all.size()}, in.data(), size, out->data(), *after);
      bad_sample = absl::IsDataLoss(status);  // An op may find noise unusable.
      if (!status.ok() && !bad_sample) return Blame(op, status);
    }
    if (in != image) return Blame(op, absl::FailedPreconditionError("it writes to the image that it is given"));
    if (bad_sample) continue;
    if (first != second)
      return Blame(op, absl::FailedPreconditionError(
                           "it made two images of one, with the same random numbers. It has to write every pixel, and "
                           "may take random numbers from its draws alone"));
    all.insert(all.end(), first.begin(), first.end());
  }
  // 0 says that there is no check.
  return XXH3_64bits(all.data(), all.size()) | 1;
}

}  // namespace stoker
