#ifndef STOKER_SERVER_READ_DATASET_H_
#define STOKER_SERVER_READ_DATASET_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/fields/field_set.h"
#include "common/fields/schema.h"
#include "server/read/stores/store.h"

namespace stoker {

// The bytes of one sample: a buffer for each field of the dataset's schema, in the schema's order. A caller may reuse
// it from sample to sample.
struct SampleBytes {
  std::vector<std::vector<uint8_t>> fields;
  std::vector<uint8_t> stored;        // what a format took the fields from; datasets alone use it
  FieldSet wanted = FieldSet::All();  // The caller sets it: what the buffers of other fields hold does not matter.
};

// Consecutive samples with one label.
struct LabelRun {
  int64_t label = 0;
  uint64_t end = 0;  // one past the last of them
};

// The labels that an index knows without reading any sample. Immutable, hence thread-safe.
class Labels {
 public:
  virtual ~Labels() = default;

  // Returns the printable names of the classes, each at the place that its label says; none where labels have no names.
  virtual const std::vector<std::string>& classes() const = 0;

  // Returns the label of sample `id`, which those after it up to the run's end have too. The sample after the end may
  // have it as well. Requires that the dataset has the sample.
  virtual LabelRun RunAt(uint64_t id) const = 0;
};

// How often samples are drawn, part by part, where a dataset is mixed of weighted parts. A plain value.
struct PartWeights {
  struct Part {
    uint64_t end = 0;     // one past the id of its last sample; its first is where the part before it ends
    uint64_t weight = 0;  // at least 1; the sum of all is at most 2^32
  };
  std::vector<Part> parts;
  uint64_t positions = 0;  // of an epoch; 0: as many as there are samples
};

// A dataset that another is mixed of. A plain value.
struct MixedPart {
  std::string name;
  uint64_t end = 0;     // as in PartWeights
  uint64_t weight = 0;  // 0 where parts have no weights
};

// The bytes that samples are made from, for those who read them ahead. Immutable, hence thread-safe.
class StoredSamples {
 public:
  virtual ~StoredSamples() = default;

  // Where a sample is stored.
  struct Place {
    uint64_t object = 0;  // a number that no other object of the dataset has
    uint64_t offset = 0;
    uint64_t size = 0;  // bytes
  };

  // Whether the `wanted` fields of sample `id` are made from them. Of a mix, those of the parts that are local are not.
  virtual bool Has(uint64_t, FieldSet /*wanted*/) const { return true; }

  // Returns where those fields are stored. Requires Has(id, wanted), as the functions below do.
  virtual Place PlaceOf(uint64_t id, FieldSet wanted) const = 0;

  // Returns the store of the object that has a Place's number.
  virtual Store& StoreOf(uint64_t object) const = 0;

  // Describes the object that has a Place's number. A dataset of millions of files keeps no ObjectInfo of each.
  virtual ObjectInfo ObjectAt(uint64_t object) const = 0;

  // Called once for each read of an object that was begun at its store, when what was read is not needed any more.
  virtual void EndRead(uint64_t) const {}

  // Replaces `sample` by what the bytes at PlaceOf(id, sample.wanted) hold. Errors are those of Dataset::Read.
  virtual absl::Status Parse(uint64_t id, std::span<const uint8_t> stored, SampleBytes& sample) const = 0;

  // Returns the error of Dataset::Read where the store gave `status` for sample `id`.
  virtual absl::Status ReadError(uint64_t id, const absl::Status& status) const = 0;
};

// An immutable, indexed collection of samples, which have the ids 0 to size() − 1. Thread-safe.
class Dataset {
 public:
  virtual ~Dataset() = default;

  // Returns the number of samples, at least 1: what would have none is refused when it is opened.
  virtual uint64_t size() const = 0;

  virtual const SourceSchema& schema() const = 0;

  // Returns a SHA-256 (32 bytes) over what identifies the samples, in index order, such as their names, sizes and
  // labels. Equal copies of a dataset have equal fingerprints, wherever they are. Each format's header defines what is
  // hashed.
  virtual const std::string& fingerprint() const = 0;

  // Returns a SHA-256 over the bytes of all samples (see ContentOf in server/read/content), where they are known; else
  // nothing.
  virtual const std::string& content() const {
    static const std::string unknown;
    return unknown;
  }

  // Returns the bytes of memory that the index holds.
  virtual uint64_t resident_bytes() const = 0;

  // Says in one line for people what the dataset is and where it lies.
  virtual std::string description() const = 0;

  // Returns the path of sample `id` relative to the dataset's root, or what stands for a path. The text is safe in logs
  // and on the wire (see PrintableName). Requires id < size().
  virtual std::string SampleName(uint64_t id) const = 0;

  // Returns the bytes that sample `id` takes where it is stored, which change with it nearly always; 0 where the index
  // does not know. Requires id < size().
  virtual uint64_t StoredBytes(uint64_t) const { return 0; }

  // Whether a sample keeps its name when samples are added to the dataset or taken from it.
  virtual bool names_are_lasting() const { return true; }

  // Returns the samples' labels, which live as long as the dataset; null where its index has none.
  virtual const Labels* labels() const { return nullptr; }

  // Returns how often samples of each part are drawn; null where every sample comes once an epoch.
  virtual const PartWeights* part_weights() const { return nullptr; }

  // Returns the datasets that this one is mixed of, in the order of their samples' ids; none where it is no mix. There
  // are at most kMostMixedParts.
  virtual std::vector<MixedPart> parts() const { return {}; }

  // Returns the samples as they are stored, which live as long as the dataset; null where reading ahead is of no use.
  virtual const StoredSamples* stored() const { return nullptr; }

  // Replaces `sample` by the bytes of sample `id`, of those fields that sample.wanted has. What is not wanted is not
  // read where it is stored apart, and is not looked at: what is wrong with it is no error. Requires id < size().
  // Errors name the sample. DataLoss blames the stored bytes, which are the same for every server: a record that does
  // not parse, a field that is missing. NotFound, Unavailable and Internal blame this machine: another server may
  // succeed. What another code would say, such as that a file has changed since it was indexed, is Unavailable too.
  virtual absl::Status Read(uint64_t id, SampleBytes& sample) const = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_DATASET_H_
