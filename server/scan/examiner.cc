#include "server/scan/examiner.h"

#include <new>
#include <optional>

#include "common/status_macros.h"
#include "server/augment/audio/audio_maker.h"
#include "server/augment/map.h"
#include "server/decode/flaw.h"
#include "server/scan/row_values.h"

namespace stoker {
namespace {

// Nobody waits for one image here. Limits of pixels and scans bound what an image takes.
constexpr absl::Duration kLongest = absl::Hours(1);

FindingKind KindOf(const absl::Status& status) {
  switch (FlawOf(status)) {
    case Flaw::kTruncated: return FindingKind::kTruncated;
    case Flaw::kNotAnImage: return FindingKind::kNotAnImage;
    case Flaw::kOverLimits: return FindingKind::kOverLimits;
    case Flaw::kDamaged: break;
  }
  return FindingKind::kDamaged;
}

Interrupt InterruptBy(const std::atomic<bool>* stop) {
  return Interrupt([stop] { return stop != nullptr && *stop ? absl::CancelledError("stopped") : absl::OkStatus(); });
}

}  // namespace

Examiner::Examiner(uint64_t max_pixels, const std::atomic<bool>* stop)
    : max_pixels_(max_pixels), interrupt_(InterruptBy(stop)) {}

absl::Status Examiner::Examine(uint64_t id, const SourceSchema& schema, const SampleBytes& sample,
                               std::vector<Finding>& findings) {
  SampleSizes sizes;
  for (size_t i = 0; i < schema.size(); ++i) {
    const SourceField& field = schema[i];
    ExamineRows(id, field, sample.fields[i], findings);
    if (field.meaning == v1::FIELD_KIND_AUDIO)
      STOKER_RETURN_IF_ERROR(ExamineAudio(id, field, sample.fields[i], findings));
    if (field.kind != SourceField::Kind::kEncodedImage) continue;
    absl::Status status = Decode(field, sample.fields[i], v1::DECODE_WARNINGS_FAIL);
    if (status.ok()) status = CheckMap(field, sizes);
    if (status.ok()) continue;
    if (!absl::IsDataLoss(status)) return status;
    // A file that only the strictest policy refuses is one whose damage a decoder conceals.
    absl::Status usual = Decode(field, sample.fields[i], v1::DECODE_WARNINGS_FAIL_TRUNCATED);
    if (usual.ok() && IsMap(field.meaning)) usual = status;  // A map's decoder conceals nothing.
    if (!usual.ok() && !absl::IsDataLoss(usual)) return usual;
    const FindingKind kind = usual.ok() ? FindingKind::kWarning : KindOf(usual);
    findings.push_back({id, kind, field.name, std::string((usual.ok() ? status : usual).message())});
  }
  return absl::OkStatus();
}

void Examiner::ExamineRows(uint64_t id, const SourceField& field, std::span<const uint8_t> bytes,
                           std::vector<Finding>& findings) {
  const absl::Status status = CheckRowValues(field, bytes);
  if (status.ok()) return;
  const FindingKind kind = absl::IsOutOfRange(status) ? FindingKind::kOverLimits : FindingKind::kWrongField;
  findings.push_back({id, kind, field.name, std::string(status.message())});
}

absl::Status Examiner::ExamineAudio(uint64_t id, const SourceField& field, std::span<const uint8_t> file,
                                    std::vector<Finding>& findings) const {
  const absl::Status status = CheckAudio(field, file, {.interrupt = &interrupt_}, 3 * max_pixels_);
  if (absl::IsDataLoss(status)) findings.push_back({id, KindOf(status), field.name, std::string(status.message())});
  return absl::IsDataLoss(status) ? absl::OkStatus() : status;
}

absl::Status Examiner::CheckMap(const SourceField& field, SampleSizes& sizes) const {
  const bool is_map = IsMap(field.meaning);
  STOKER_RETURN_IF_ERROR(sizes.Add(field.name, is_map, image_.region.size));
  return is_map ? CheckMapValues(image_.view(), field.meaning, field.dtype) : absl::OkStatus();
}

absl::Status Examiner::Decode(const SourceField& field, std::span<const uint8_t> file,
                              v1::DecodeWarnings warnings) try {
  const DecodeOptions options = {.content = ContentOf(field),
                                 .max_pixels = max_pixels_,
                                 .warnings = warnings,
                                 .to_end = true,
                                 .time = kLongest,
                                 .interrupt = &interrupt_};
  STOKER_ASSIGN_OR_RETURN(const ImageSize size, decoder_.Open(file, options));
  return decoder_.Decode({WholeOf(size)}, image_);
} catch (const std::bad_alloc&) {
  return absl::ResourceExhaustedError("no memory is left to decode an image; give more memory or fewer --workers");
}

}  // namespace stoker
