#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/plugin/op_library.h"
#include "server/plugin/trial.h"

namespace stoker {
namespace {

constexpr ImageSize kSizes[] = {kTrialSize, {256, 231}};

// An image is tried amid so many bytes that are not its own.
constexpr size_t kAround = 4096;

size_t Bytes(ImageSize size) { return size.height * size.width * 3; }

// Returns memory for an image, in which all bytes are `fill`.
std::vector<uint8_t> Room(ImageSize size, uint8_t fill) { return std::vector(Bytes(size) + 2 * kAround, fill); }

// Whether all but the image is as it was.
bool IsWholeAround(std::span<const uint8_t> room, uint8_t fill) {
  const auto is_fill = [fill](uint8_t byte) { return byte == fill; };
  return std::all_of(room.begin(), room.begin() + kAround, is_fill) &&
         std::all_of(room.end() - kAround, room.end(), is_fill);
}

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
    constexpr uint8_t kFills[] = {0x55, 0xaa};
    std::vector<uint8_t> in = image, first = Room(*after, kFills[0]), second = Room(*after, kFills[1]);
    bool bad_sample = false;
    for (std::vector<uint8_t>* out : {&first, &second}) {
      const absl::Status status =
          op.Apply(values, {.position = all.size()}, in.data(), size, out->data() + kAround, *after);
      if (!IsWholeAround(*out, kFills[out == &second]))
        return Blame(op, absl::FailedPreconditionError("it writes beyond the image that it makes"));
      bad_sample = absl::IsDataLoss(status);  // An op may find noise unusable.
      if (!status.ok() && !bad_sample) return Blame(op, status);
    }
    if (in != image) return Blame(op, absl::FailedPreconditionError("it writes to the image that it is given"));
    if (bad_sample) continue;
    if (!std::equal(first.begin() + kAround, first.end() - kAround, second.begin() + kAround))
      return Blame(op, absl::FailedPreconditionError(
                           "it made two images of one, with the same random numbers. It has to write every pixel, and "
                           "may take random numbers from its draws alone"));
    all.insert(all.end(), first.begin() + kAround, first.end() - kAround);
  }
  // 0 says that there is no check.
  return XXH3_64bits(all.data(), all.size()) | 1;
}

}  // namespace stoker
