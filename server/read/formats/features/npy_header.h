#ifndef STOKER_SERVER_READ_FORMATS_FEATURES_NPY_HEADER_H_
#define STOKER_SERVER_READ_FORMATS_FEATURES_NPY_HEADER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// What the header of an .npy file says (NumPy Enhancement Proposal 1, versions 1.0 to 3.0). A plain value.
struct NpyHeader {
  v1::Dtype dtype = v1::DTYPE_UNSPECIFIED;
  std::vector<int64_t> shape;  // at most 32 dimensions; empty for a scalar
  uint64_t bytes = 0;          // of the header: the elements begin there
};

// The most bytes of a file that ParseNpyHeader looks at.
inline constexpr uint64_t kNpyHeaderBytes = 4096;

// Parses the header that `file` begins with. Any bytes are safe. InvalidArgument says what is wrong or not taken: other
// byte orders, other types than numbers and bool, Fortran's order of more than one dimension.
// A first dimension of 0 is taken where it `may_be_empty`.
absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view file, bool may_be_empty = false);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FEATURES_NPY_HEADER_H_
