#ifndef STOKER_SERVER_READ_FORMATS_LMDB_LAYOUT_H_
#define STOKER_SERVER_READ_FORMATS_LMDB_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/formats/lmdb/value.h"
#include "server/read/formats/mapping/field_mapping.h"

namespace stoker {

// How entries make samples: LMDB itself knows keys and values alone. All functions are pure, and any bytes are safe.
enum class LmdbLayout {
  kImage,     // a value is an image file
  kNumbered,  // keys image-000000001, image-000000002, …, whose values are image files; others are no samples
  kPickle,    // a value is a pickled tuple of an image file and a label
  kMsgpack,   // the same in MessagePack
  kDatum,     // a value is Caffe's Datum
};

// Returns the name that configurations use: "image".
std::string_view NameOf(LmdbLayout layout);

// Returns the layout of that name; InvalidArgument tells which there are.
absl::StatusOr<LmdbLayout> LmdbLayoutOf(const std::string& name);

// Whether a key's value is a sample, rather than a number of samples or a list of keys: `__len__`, `__keys__` and all
// that begin and end so, `num-samples`, `length`.
bool IsLmdbSample(LmdbLayout layout, std::string_view key);
bool IsLmdbMetadata(std::string_view key);

// Returns the layout that an entry shows, which is no metadata; nothing where it shows none.
std::optional<LmdbLayout> FindLmdbLayout(std::string_view key, std::span<const uint8_t> value);

// Takes a value apart. DataLoss where it is not of the layout.
absl::StatusOr<LmdbValue> ParseLmdbValue(LmdbLayout layout, std::span<const uint8_t> value);

// Returns the parts that samples have, as the first value shows them: image and label.
std::vector<StoredColumn> ColumnsOf(const LmdbValue& first);

// Replaces `field` by the part `from` of a value. DataLoss where it is other than the schema says.
absl::Status TakeLmdbPart(const LmdbValue& value, std::string_view from, const SourceField& schema,
                          std::vector<uint8_t>& field);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_LMDB_LAYOUT_H_
