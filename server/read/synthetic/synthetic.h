#ifndef STOKER_SERVER_READ_SYNTHETIC_SYNTHETIC_H_
#define STOKER_SERVER_READ_SYNTHETIC_SYNTHETIC_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/read/dataset.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Samples made from their id alone, for tests and scaling experiments. Immutable and thread-safe; no I/O.
//
// A raw field's bytes are the stream of SplitMix64 seeded with MixAll({0x73796e74685f7631, sample id, the field's
// place}): 8-byte words, little-endian, the last one cut. In fields of floats the highest exponent bit of each
// element is cleared: finite values below 2, for a NaN would not equal itself. A jpeg field is PaintPhotograph
// with a seed and a palette of the same key, at quality 90.
//
// Fingerprint: SHA-256 of
//   "stoker.synthetic.v1"
//   number of samples, number of fields
//   of each field: length of its name, its name, dtype and encoding (the numbers of the protobuf enums, neither of
//   them unspecified), number of extents, extents
// where numbers are 8 bytes, little-endian. Neither spin_us nor sleep_us counts.
class Synthetic final : public Dataset {
 public:
  // InvalidArgument, such as "fields[1].shape: …". Bounds: 64 fields with different names of letters, digits and
  // underscores, up to 8 extents each, kMaxSampleBytes in all; 2^63 samples; a minute of spinning and of sleeping.
  // Only the field `image` may be jpeg.
  static absl::StatusOr<std::unique_ptr<Synthetic>> Create(const v1::Synthetic& config);

  // "1024x1024x3": the configuration of one raw uint8 field `image` of that shape. InvalidArgument where `shape` is
  // no list of positive numbers.
  static absl::StatusOr<v1::Synthetic> ParseShape(const std::string& shape);

  uint64_t size() const override { return samples_; }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override { return sizeof(*this); }
  std::string description() const override;

  // "synthetic/000000000042".
  std::string SampleName(uint64_t id) const override;

  // Cannot fail.
  absl::Status Read(uint64_t id, SampleBytes& sample) const override;

 private:
  Synthetic(const v1::Synthetic& config, SourceSchema schema);

  const uint64_t samples_;
  const SourceSchema schema_;  // A jpeg field has its image's shape.
  const absl::Duration spin_, sleep_;
  const std::string fingerprint_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_SYNTHETIC_SYNTHETIC_H_
