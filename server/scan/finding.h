#ifndef STOKER_SERVER_SCAN_FINDING_H_
#define STOKER_SERVER_SCAN_FINDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/read/dataset.h"

namespace stoker {

// What a scan can find of a sample. The numbers stand in state files and are never given to another kind.
enum class FindingKind : uint8_t {
  kTruncated = 0,   // An image file ends before its image does.
  kNotAnImage = 1,  // A file that should be an image is of no known format.
  kDamaged = 2,     // An image cannot be decoded for another reason.
  kWarning = 3,  // An image is decoded, and its decoder conceals damage. Servers say by decode_warnings if they do so.
  kOverLimits = 4,  // An image is larger than the limits allow, or a field whose samples differ in size than max_bytes.
  kWrongField = 5,  // The stored bytes do not parse, or lack a field, or have values that the field cannot have.
  kDuplicate = 6,   // Another sample with a smaller id has the same images; without images, the same fields.
  kUnreadable = 7,  // The storage gave no bytes. Nothing is known of the sample.
};
inline constexpr int kFindingKinds = 8;

// Returns the kind's name in reports: "not-an-image".
std::string NameOf(FindingKind kind);

// A finding of one sample. A plain value.
struct Finding {
  uint64_t id = 0;
  FindingKind kind = FindingKind::kDamaged;
  std::string field;    // the image's, or that of the values; empty where the finding is of no single field
  std::string message;  // the reason, for people; one line
  // For kDuplicate the id of the first sample with the same bytes. For kUnreadable the last id of a run: all samples
  // from `id` to it failed with the same reason. Else it means nothing.
  uint64_t other = 0;

  friend bool operator==(const Finding&, const Finding&) = default;
};

// Brings findings into the order of reports, which is that of the samples. Runs of unreadable samples that follow each
// other and have the same reason become one.
void SortFindings(std::vector<Finding>& findings);

// The forms of a report. A line of JSON has the keys id, sample, kind, message and, where they apply, field, first_id
// and first (of a duplicate), last_id, last and samples (of unreadable ones). CSV (RFC 4180) has the columns
// id,sample,kind,field,message,other_id,other.
enum class ReportFormat { kText, kJson, kCsv };

// Returns the report of sorted findings of `dataset`, in UTF-8. It depends on nothing else.
std::string ReportOf(const std::vector<Finding>& findings, const Dataset& dataset, ReportFormat format);

}  // namespace stoker

#endif  // STOKER_SERVER_SCAN_FINDING_H_
