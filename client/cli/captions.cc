#include "client/cli/captions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/spectrogram.h"
#include "common/fields/cast.h"
#include "common/fields/schema.h"

namespace stoker {
namespace {

constexpr int64_t kMostNumbers = 8;       // that a caption tells
constexpr int64_t kMostTextBytes = 4096;  // of which more fit into no picture

// The elements [begin, end) of a tensor.
struct Elements {
  const Tensor& tensor;
  int64_t begin = 0, end = 0;
};

std::string NumberAt(const Tensor& tensor, int64_t i) {
  if (IsWholeNumber(tensor.dtype)) return absl::StrCat(WholeNumberAt(tensor.data, tensor.dtype, i));
  const auto* bytes = static_cast<const uint8_t*>(tensor.data) + i * ByteSize(tensor.dtype);
  return absl::StrCat(LoadNumber(NumberOf(tensor.dtype), bytes));
}

// "3 7 1", or with how many there are where not all are told: "3 7 … of 20".
std::string NumbersOf(const Elements& elements) {
  std::vector<std::string> numbers;
  const int64_t count = elements.end - elements.begin, told = std::min(count, kMostNumbers);
  for (int64_t i = 0; i < told; ++i) numbers.push_back(NumberAt(elements.tensor, elements.begin + i));
  if (count > told) numbers.push_back(absl::StrCat("... of ", count));
  return numbers.empty() ? "none" : absl::StrJoin(numbers, " ");
}

// Whether a field is drawn rather than told.
bool IsDrawn(const v1::Field& field, const Tensor& tensor) {
  const bool looks_like_images =
      tensor.dtype == v1::DTYPE_UINT8 && tensor.shape.size() >= 4 && tensor.shape.back() == 3;
  return IsMap(field.kind()) || HasPoints(field.kind()) || field.kind() == v1::FIELD_KIND_RAGGED_IMAGE ||
         IsAudio(field) || (!IsVariable(field.kind()) && looks_like_images);
}

int64_t ElementsOfRow(const Tensor& tensor) {
  int64_t elements = 1;
  for (size_t i = 1; i < tensor.shape.size(); ++i) elements *= tensor.shape[i];
  return elements;
}

Caption CaptionOf(const v1::Field& field, const Elements& elements) {
  const int64_t count = elements.end - elements.begin;
  const auto* bytes = static_cast<const char*>(elements.tensor.data) + elements.begin;
  switch (field.kind()) {
    case v1::FIELD_KIND_TEXT: return {field.name(), std::string(bytes, std::min(count, kMostTextBytes)), true};
    case v1::FIELD_KIND_BYTES: return {field.name(), absl::StrCat(count, " bytes")};
    default: return {field.name(), NumbersOf(elements)};
  }
}

}  // namespace

std::vector<std::vector<Caption>> CaptionsOf(const std::vector<Tensor>& fields, int64_t count,
                                             const google::protobuf::RepeatedPtrField<v1::Field>& sent) {
  std::vector<std::vector<Caption>> captions(count);
  int next = sent.size();  // The next field whose samples differ in size has its offsets there.
  for (int i = 0; i < sent.size(); ++i) {
    const v1::Field& field = sent[i];
    const Tensor& tensor = fields[i];
    const auto* offsets = IsVariable(field.kind()) ? static_cast<const int64_t*>(fields[next++].data) : nullptr;
    if (IsDrawn(field, tensor)) continue;
    const int64_t row = ElementsOfRow(tensor);
    for (int64_t sample = 0; sample < count; ++sample) {
      const int64_t begin = offsets != nullptr ? offsets[sample] : sample;
      const int64_t end = offsets != nullptr ? offsets[sample + 1] : sample + 1;
      captions[sample].push_back(CaptionOf(field, {tensor, begin * row, end * row}));
    }
  }
  return captions;
}

}  // namespace stoker
