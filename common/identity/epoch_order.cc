#include "common/identity/epoch_order.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/identity/mix.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr uint64_t kShuffleDomain = 0x73687566666c6500;
constexpr uint64_t kDefaultBlockSamples = 1024;
constexpr uint64_t kDefaultWindowBlocks = 16;
constexpr uint64_t kMaxWindowSamples = uint64_t{1} << 62;
constexpr uint64_t kMaxEpochSamples = uint64_t{1} << 62;
constexpr uint64_t kMaxWeight = uint64_t{1} << 32;
constexpr int kMaxWeights = 1 << 16;  // so that no sum of weights reaches 2^64

v1::ShuffleMode Mode(const v1::Shuffle& shuffle) {
  return shuffle.mode() == v1::SHUFFLE_MODE_UNSPECIFIED ? v1::SHUFFLE_MODE_FULL : shuffle.mode();
}

uint64_t BlockSamples(const v1::Shuffle& shuffle) {
  if (Mode(shuffle) != v1::SHUFFLE_MODE_BLOCK) return 1;
  return shuffle.block_samples() == 0 ? kDefaultBlockSamples : shuffle.block_samples();
}

uint64_t WindowBlocks(const v1::Shuffle& shuffle) {
  return shuffle.window_blocks() == 0 ? kDefaultWindowBlocks : shuffle.window_blocks();
}

absl::Status ValidateWeights(const v1::Shuffle& shuffle) {
  if (shuffle.class_weights_size() > kMaxWeights)
    return absl::InvalidArgumentError(
        absl::StrCat("shuffle.class_weights: ", shuffle.class_weights_size(), " are more than ", kMaxWeights));
  for (const auto& [name, weight] : shuffle.class_weights())
    if (weight < 1 || weight > kMaxWeight)
      return absl::InvalidArgumentError(absl::StrCat("shuffle.class_weights: that of '", absl::CHexEscape(name),
                                                     "' is ", weight, ", not a whole number from 1 to 2^32"));
  if (shuffle.samples() > kMaxEpochSamples)
    return absl::InvalidArgumentError(absl::StrCat("shuffle.samples: ", shuffle.samples(), " is more than 2^62"));
  return absl::OkStatus();
}

uint64_t Blocks(uint64_t size, uint64_t block_samples) { return (size - 1) / block_samples + 1; }

}  // namespace

absl::Status ValidateShuffle(const v1::Shuffle& shuffle) {
  if (!v1::ShuffleMode_IsValid(shuffle.mode()))
    return absl::InvalidArgumentError(absl::StrCat("shuffle.mode: unknown value ", shuffle.mode()));
  if (Mode(shuffle) != v1::SHUFFLE_MODE_BLOCK && (shuffle.block_samples() != 0 || shuffle.window_blocks() != 0))
    return absl::InvalidArgumentError("shuffle.block_samples and window_blocks need shuffle.mode block");
  if (Mode(shuffle) != v1::SHUFFLE_MODE_WEIGHTED && (!shuffle.class_weights().empty() || shuffle.samples() != 0))
    return absl::InvalidArgumentError("shuffle.class_weights and samples need shuffle.mode weighted");
  STOKER_RETURN_IF_ERROR(ValidateWeights(shuffle));
  if (BlockSamples(shuffle) > kMaxWindowSamples / WindowBlocks(shuffle))
    return absl::InvalidArgumentError("shuffle: block_samples × window_blocks must not exceed 2^62");
  return absl::OkStatus();
}

EpochOrder::EpochOrder(uint64_t size, const v1::Shuffle& shuffle, uint64_t seed, uint64_t epoch)
    : size_(size),
      mode_(Mode(shuffle)),
      key_(MixAll({kShuffleDomain, seed, epoch})),
      block_samples_(std::min(BlockSamples(shuffle), size)),
      blocks_(Blocks(size, block_samples_)),
      window_blocks_(std::min(WindowBlocks(shuffle), blocks_)),
      block_order_(blocks_, key_),
      missing_(blocks_ * block_samples_ - size),
      short_rank_(block_order_.PositionOf(blocks_ - 1)),
      short_window_(short_rank_ / window_blocks_) {}

uint64_t EpochOrder::SampleAt(uint64_t position) const {
  STOKER_CHECK(position < size_);
  switch (mode_) {
    case v1::SHUFFLE_MODE_NONE: return position;
    case v1::SHUFFLE_MODE_BLOCK: return BlockSampleAt(position);
    default: return block_order_.SampleAt(position);
  }
}

uint64_t EpochOrder::WindowStart(uint64_t window) const {
  return window * window_blocks_ * block_samples_ - (window > short_window_ ? missing_ : 0);
}

uint64_t EpochOrder::NumberOfWindow(uint64_t position) const {
  const uint64_t window_samples = window_blocks_ * block_samples_;
  // All windows after the one with the short block begin `missing_` positions earlier.
  const uint64_t end_of_short = (short_window_ + 1) * window_samples - missing_;
  return (position < end_of_short ? position : position + missing_) / window_samples;
}

EpochOrder::Window EpochOrder::WindowOf(uint64_t position) const {
  STOKER_CHECK(position < size_);
  if (mode_ != v1::SHUFFLE_MODE_BLOCK) return {0, size_};
  const uint64_t window = NumberOfWindow(position), first = WindowStart(window);
  return {first, std::min(WindowStart(window + 1), size_) - first};
}

uint64_t EpochOrder::BlockSampleAt(uint64_t position) const {
  const uint64_t window = NumberOfWindow(position);
  const uint64_t first_block = window * window_blocks_;
  const uint64_t blocks = std::min(window_blocks_, blocks_ - first_block);
  const bool has_short = window == short_window_;

  const Permutation within(blocks * block_samples_ - (has_short ? missing_ : 0), MixAll({key_, window}));
  uint64_t offset = within.SampleAt(position - WindowStart(window));
  // From here on `offset` counts as if the short block were a whole one.
  if (has_short && offset >= (short_rank_ - first_block + 1) * block_samples_ - missing_) offset += missing_;
  return block_order_.SampleAt(first_block + offset / block_samples_) * block_samples_ + offset % block_samples_;
}

}  // namespace stoker
