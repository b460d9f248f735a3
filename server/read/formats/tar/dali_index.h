#ifndef STOKER_SERVER_READ_FORMATS_TAR_DALI_INDEX_H_
#define STOKER_SERVER_READ_FORMATS_TAR_DALI_INDEX_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/formats/tar/tar_reader.h"
#include "server/read/stores/store.h"

namespace stoker {

// The .idx files that DALI's wds2idx writes beside tar shards: a line "v1.2 N", and for each of N samples a line of
// "extension offset size name" for each of its members.

// Returns "a/b.idx" for "a/b.tar".
std::string DaliIndexName(std::string_view shard);

// Returns the members that an index tells of, in its order. InvalidArgument where it is of another version or
// malformed, or tells of members that overlap or go back. Any bytes are safe.
absl::StatusOr<std::vector<TarMember>> ParseDaliIndex(std::string_view text);

// Returns the members of `shard` by the index beside it, if there is one that can be of it: the headers of the first
// and the last member are where it says, and the archive ends after the last one. Otherwise an error, of any code: the
// shard is to be scanned.
absl::StatusOr<std::vector<TarMember>> MembersByDaliIndex(Store& store, const ObjectInfo& shard);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TAR_DALI_INDEX_H_
