#include "common/ops/audio.h"

#include "absl/strings/str_cat.h"
#include "common/ops/arguments.h"

namespace stoker {
namespace {

constexpr char kAudioField[] = "audio";
constexpr int64_t kMostSamples = int64_t{1} << 27;  // as many as the largest sample has, of two bytes each

}  // namespace

std::string AudioFieldOf(const v1::Op& op) {
  if (!op.has_resample() && !op.has_random_audio_crop()) return "";
  const std::string& field = op.has_resample() ? op.resample().field() : op.random_audio_crop().field();
  return field.empty() ? kAudioField : field;
}

int64_t StartOfStretch(const v1::RandomAudioCrop& op, int64_t all, const DrawKey& key) {
  if (all <= op.samples()) return 0;
  const int64_t last = all - op.samples();
  return op.center() ? last / 2 : static_cast<int64_t>(Draws(key).Below(static_cast<uint64_t>(last) + 1));
}

absl::Status Description<v1::Resample>::Validate(const v1::Resample& op) {
  if (op.sample_rate() >= 1 && op.sample_rate() <= kMostSampleRate) return absl::OkStatus();
  return Invalid(op, "sample_rate",
                 absl::StrCat("give the new samples a second, 1 to ", kMostSampleRate, "; found ", op.sample_rate()));
}

void Description<v1::Resample>::FillDefaults(v1::Resample& op) {
  if (op.field().empty()) op.set_field(kAudioField);
}

absl::Status Description<v1::RandomAudioCrop>::Validate(const v1::RandomAudioCrop& op) {
  if (op.samples() >= 1 && op.samples() <= kMostSamples) return absl::OkStatus();
  return Invalid(op, "samples",
                 absl::StrCat("give the stretch's samples, 1 to ", kMostSamples, "; found ", op.samples()));
}

void Description<v1::RandomAudioCrop>::FillDefaults(v1::RandomAudioCrop& op) {
  if (op.field().empty()) op.set_field(kAudioField);
}

}  // namespace stoker
