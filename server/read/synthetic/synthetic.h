#ifndef STOKER_SERVER_READ_SYNTHETIC_SYNTHETIC_H_
#define STOKER_SERVER_READ_SYNTHETIC_SYNTHETIC_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/read/dataset.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// A dataset whose samples are made from their ids alone, for tests and scaling experiments. It is immutable and
// thread-safe and does no I/O.
//
// The bytes of a raw field are a stream of SplitMix64 with the seed MixAll({0x73796e74685f7631, sample id, the field's
// place}), as 8-byte words, little-endian, the last one cut. In fields of floats the highest exponent bit of each
// element is cleared, so that values are finite and below 2: a NaN would not equal itself. A jpeg field is
// PaintPhotograph with that seed as its seed and its palette, at quality 90. A field whose samples differ in size is
// MakeRows with that seed, in the field `image`, if it is one of height, width and channels.
//
// The fingerprint is the SHA-256 of
//   "stoker.synthetic.v1"
//   number of samples, number of fields
//   for each field: length of its name, its name, dtype and encoding (the numbers of the protobuf enums, neither of
//   them unspecified), number of extents, extents; of a map its kind, and where samples differ in size RowWords,
//     ", typically " and typical_bytes in digits
// where numbers are 8 bytes, little-endian. spin_us and sleep_us are no part of it.
class Synthetic final : public Dataset {
 public:
  // Returns InvalidArgument for a configuration that is wrong, with a message such as "fields[1].shape: …". There may
  // be up to 64 fields. Their names differ and have up to 64 letters, digits and underscores, the first no digit. A
  // field has up to 8 extents, and all fields together up to kMaxSampleBytes. There may be up to 2^63 samples. Spinning
  // and sleeping take up to a minute each. Only the field `image` may be jpeg.
  static absl::StatusOr<std::unique_ptr<Synthetic>> Create(const v1::Synthetic& config);

  // Returns the configuration of one raw uint8 field `image` of the shape that a text such as "1024x1024x3" gives.
  // Returns InvalidArgument where `shape` is not a list of positive numbers.
  static absl::StatusOr<v1::Synthetic> ParseShape(const std::string& shape);

  uint64_t size() const override { return samples_; }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override { return sizeof(*this); }
  std::string description() const override;

  // Returns a name such as "synthetic/000000000042".
  std::string SampleName(uint64_t id) const override;

  // Makes the sample. It cannot fail.
  absl::Status Read(uint64_t id, SampleBytes& sample) const override;

 private:
  Synthetic(const v1::Synthetic& config, SourceSchema schema);

  const uint64_t samples_;
  const SourceSchema schema_;  // In it a jpeg field has its image's shape.
  const absl::Duration spin_, sleep_;
  const std::optional<ImageSize> image_;  // what points lie on
  const std::string fingerprint_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_SYNTHETIC_SYNTHETIC_H_
