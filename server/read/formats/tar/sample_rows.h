#ifndef STOKER_SERVER_READ_FORMATS_TAR_SAMPLE_ROWS_H_
#define STOKER_SERVER_READ_FORMATS_TAR_SAMPLE_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/formats/tar/tar_reader.h"
#include "server/read/index/shard_index.h"

namespace stoker {

// A member's name in two: "cat/0001" and "seg.png" of "cat/0001.seg.png".
struct MemberName {
  std::string key;        // the path up to the first dot of the base name
  std::string extension;  // what follows that dot, in lower case
};

// Splits a member's name as webdataset does. Returns nothing for what belongs to no sample: a base name without a dot,
// or that begins with one, and names such as "__index__.json".
std::optional<MemberName> SplitMemberName(std::string_view name);

// Extensions that stand for one part of a sample: the first one that a sample has is taken.
using Extensions = std::vector<std::string>;

// Groups members into samples. Members that lie one after another and have one key are a sample; one that has none of
// the wanted parts is left out.
//
// The place of a part that is missing is 0 and its size too, and that of an empty one as well, which is the same to who
// reads the sample. Among parts that may be empty, an empty one has a place after 0: the range of the sample begins
// before it, in its header.
class SampleRows {
 public:
  // `wanted` must outlive the object. `may_be_empty` says of which of them; without any none may be.
  explicit SampleRows(const std::vector<Extensions>& wanted, std::vector<bool> may_be_empty = {});

  // Adds the member that lies next. DataLoss where the sample before it has one extension twice, or wanted members that
  // lie further apart than kMaxSampleBytes; the message names the sample.
  absl::Status Add(const TarMember& member);

  // Returns all samples. Nothing may be called after it.
  absl::StatusOr<ShardIndex::Rows> Finish();

  // Returns the number of samples, with those that were left out.
  uint64_t groups() const { return groups_; }

 private:
  struct Part {
    size_t place = ~size_t{};  // of its extension among those that stand for it
    uint64_t offset = 0, size = 0;
  };

  absl::Status EndSample();

  const std::vector<Extensions>& wanted_;
  const std::vector<bool> may_be_empty_;
  ShardIndex::Rows rows_;
  uint64_t groups_ = 0;
  std::string key_;  // of the sample that members are added to, if groups_ is not 0
  std::vector<Part> parts_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TAR_SAMPLE_ROWS_H_
