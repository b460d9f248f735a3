#ifndef STOKER_SERVER_READ_DATASET_H_
#define STOKER_SERVER_READ_DATASET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/fields/schema.h"

namespace stoker {

// The bytes of one sample, a buffer for each field of the dataset's schema. Reused from sample to sample.
struct SampleBytes {
  std::vector<std::vector<uint8_t>> fields;
};

// An immutable, indexed collection of samples. Thread-safe.
class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual uint64_t size() const = 0;

  virtual const SourceSchema& schema() const = 0;

  // SHA-256 (32 bytes) over each sample's name, size and label in index order: equal for equal copies.
  virtual const std::string& fingerprint() const = 0;

  // Bytes of memory that the index holds.
  virtual uint64_t resident_bytes() const = 0;

  // What it is and where it lies, in one line for people.
  virtual std::string description() const = 0;

  // A path relative to the dataset's root, or what stands for it, as text that is safe in logs and on the wire: see
  // PrintableName. Requires id < size().
  virtual std::string SampleName(uint64_t id) const = 0;

  // Replaces `sample` by the bytes of sample `id`. Requires id < size(). Fails with NotFound, Unavailable
  // or Internal, which blame this machine (another server may succeed), and names the sample.
  virtual absl::Status Read(uint64_t id, SampleBytes& sample) const = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_DATASET_H_
