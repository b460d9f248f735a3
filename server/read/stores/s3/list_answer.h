#ifndef STOKER_SERVER_READ_STORES_S3_LIST_ANSWER_H_
#define STOKER_SERVER_READ_STORES_S3_LIST_ANSWER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/read/stores/store.h"

namespace stoker {

// A page of what ListObjectsV2 answers. A plain value.
struct ListAnswer {
  std::vector<ObjectInfo> objects;   // names are keys; versions are ETags, as headers have them
  std::vector<std::string> folders;  // with a delimiter: what keys have in common up to it, and that
  std::string next;                  // the token of the next page; empty for the last one
};

// Parses an answer to a request with encoding-type=url. Any bytes are safe. Unavailable where it is no such answer.
absl::StatusOr<ListAnswer> ParseListAnswer(absl::string_view xml);

// Returns the text of the first element <name> of `xml` from `at` on, with entities resolved, and moves `at` behind it;
// nothing where there is none. The element's name must have no attributes.
bool NextElement(absl::string_view xml, absl::string_view name, size_t& at, absl::string_view& inside);

// Resolves the five entities of XML and numbers up to 127. Pure.
std::string WithoutEntities(absl::string_view text);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_S3_LIST_ANSWER_H_
