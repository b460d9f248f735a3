#ifndef STOKER_SERVER_SCAN_ROW_VALUES_H_
#define STOKER_SERVER_SCAN_ROW_VALUES_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "common/fields/schema.h"

namespace stoker {

// OK where `bytes` are what a field whose samples differ in size may have, or where the field is of another kind.
// OutOfRange where they are above max_bytes. DataLoss where they end within a row, are a text that is not UTF-8, or
// boxes or keypoints that are not finite numbers, or boxes whose right lies left of their left or whose bottom above
// their top. The message says which row it is, counted from 0. Pure.
absl::Status CheckRowValues(const SourceField& field, std::span<const uint8_t> bytes);

}  // namespace stoker

#endif  // STOKER_SERVER_SCAN_ROW_VALUES_H_
