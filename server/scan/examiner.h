#ifndef STOKER_SERVER_SCAN_EXAMINER_H_
#define STOKER_SERVER_SCAN_EXAMINER_H_

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/augment/sample_sizes.h"
#include "server/decode/decoder.h"
#include "server/read/dataset.h"
#include "server/scan/finding.h"

namespace stoker {

// Decodes the images and audio of samples from end to end, looks at the values of fields whose samples differ in size,
// and says what is wrong with them. One thread at a time; what it says of a sample does not depend on those before.
class Examiner {
 public:
  // Images above `max_pixels` are over the limits. Decoding ends early, as Cancelled, once `*stop` is true; null:
  // never.
  Examiner(uint64_t max_pixels, const std::atomic<bool>* stop);

  // Appends what is wrong with sample `id`. An error blames this machine, and then nothing is known of
  // the sample: ResourceExhausted, Unavailable where the module for a format is missing, Cancelled.
  absl::Status Examine(uint64_t id, const SourceSchema& schema, const SampleBytes& sample,
                       std::vector<Finding>& findings);

 private:
  absl::Status Decode(const SourceField& field, std::span<const uint8_t> file, v1::DecodeWarnings warnings);

  // Appends what is wrong with the values of a field, if samples differ in size in it.
  static void ExamineRows(uint64_t id, const SourceField& field, std::span<const uint8_t> bytes,
                          std::vector<Finding>& findings);

  // Appends what is wrong with the audio file of a field. Errors are those of Examine.
  absl::Status ExamineAudio(uint64_t id, const SourceField& field, std::span<const uint8_t> file,
                            std::vector<Finding>& findings) const;

  // Checks the image or map that was decoded last: that a map has the size of the sample's image, and its values.
  absl::Status CheckMap(const SourceField& field, SampleSizes& sizes) const;

  const uint64_t max_pixels_;
  const Interrupt interrupt_;
  Decoder decoder_;
  DecodedImage image_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_SCAN_EXAMINER_H_
