#include "server/read/formats/features/npy_header.h"

#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr absl::string_view kMagic = "\x93NUMPY";
constexpr size_t kMostDimensions = 32;

absl::Status Wrong(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("is no .npy file that can be read: ", what));
}

uint64_t LittleEndian(absl::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<uint8_t>(bytes[i]);
  return number;
}

// Returns what stands after `key` and its colon in a Python dictionary, without the spaces before it.
absl::StatusOr<absl::string_view> ValueOf(absl::string_view dictionary, absl::string_view key) {
  const size_t at = dictionary.find(absl::StrCat("'", key, "'"));
  const size_t colon = at == dictionary.npos ? at : dictionary.find(':', at);
  if (colon == dictionary.npos) return Wrong(absl::StrCat("its header has no '", key, "'"));
  return absl::StripLeadingAsciiWhitespace(dictionary.substr(colon + 1));
}

absl::StatusOr<v1::Dtype> DtypeOf(absl::string_view descr) {
  static const std::map<absl::string_view, v1::Dtype> kTypes = {
      {"b1", v1::DTYPE_UINT8}, {"u1", v1::DTYPE_UINT8},   {"i2", v1::DTYPE_INT16},   {"i4", v1::DTYPE_INT32},
      {"i8", v1::DTYPE_INT64}, {"f2", v1::DTYPE_FLOAT16}, {"f4", v1::DTYPE_FLOAT32}, {"f8", v1::DTYPE_FLOAT64}};
  if (descr.size() < 5 || descr[0] != '\'' || descr[4] != '\'') return Wrong("its type is no plain number");
  const absl::string_view type = descr.substr(2, 2);
  const bool one_byte = type[1] == '1';
  if (descr[1] != '<' && !(one_byte && descr[1] == '|')) return Wrong("its numbers are not little-endian");
  const auto found = kTypes.find(type);
  if (found == kTypes.end()) return Wrong(absl::StrCat("elements of type '", type, "' are not taken"));
  return found->second;
}

absl::StatusOr<std::vector<int64_t>> ShapeOf(absl::string_view tuple, bool may_be_empty) {
  const size_t end = tuple.find(')');
  if (!absl::ConsumePrefix(&tuple, "(") || end == tuple.npos) return Wrong("its shape is no tuple");
  std::vector<int64_t> shape;
  for (absl::string_view number : absl::StrSplit(tuple.substr(0, end - 1), ',')) {
    number = absl::StripAsciiWhitespace(number);
    if (number.empty()) continue;  // The comma after the last one.
    int64_t dimension = 0;
    const int64_t least = may_be_empty && shape.empty() ? 0 : 1;
    if (!absl::SimpleAtoi(number, &dimension) || dimension < least || shape.size() == kMostDimensions)
      return Wrong("its shape has a dimension that is not above 0, or too many");
    shape.push_back(dimension);
  }
  return shape;
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view file, bool may_be_empty) {
  if (file.size() < 12 || file.substr(0, kMagic.size()) != kMagic) return Wrong("it does not begin as one");
  const int version = file[6];
  if (version < 1 || version > 3) return Wrong("its version is not 1 to 3");
  const size_t begin = version == 1 ? 10 : 12;
  const uint64_t length = LittleEndian(file.substr(8, begin - 8));
  if (length > kNpyHeaderBytes - begin || file.size() < begin + length)
    return Wrong("its header is cut short or too long");
  const absl::string_view dictionary = file.substr(begin, length);
  NpyHeader header;
  header.bytes = begin + length;
  STOKER_ASSIGN_OR_RETURN(const auto descr, ValueOf(dictionary, "descr"));
  STOKER_ASSIGN_OR_RETURN(header.dtype, DtypeOf(descr));
  STOKER_ASSIGN_OR_RETURN(const auto shape, ValueOf(dictionary, "shape"));
  STOKER_ASSIGN_OR_RETURN(header.shape, ShapeOf(shape, may_be_empty));
  STOKER_ASSIGN_OR_RETURN(const auto order, ValueOf(dictionary, "fortran_order"));
  if (!absl::StartsWith(order, "False") && header.shape.size() > 1) return Wrong("its elements are in Fortran's order");
  return header;
}

}  // namespace stoker
