#include "server/read/formats/tar/json_rows.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/tar/json_walk.h"

namespace stoker {
namespace {

static_assert(std::endian::native == std::endian::little);  // Numbers are copied as they are.

// Gathers the numbers of rows. The lists that are open in a value have levels, the outermost 1. The level of a value's
// first number says which of the forms the value has.
class RowsFinder final : public JsonWalk {
 public:
  RowsFinder(const JsonPath& path, const SourceField& field, std::vector<uint8_t>& rows)
      : JsonWalk(path), field_(field), row_numbers_(DenseBytes(field) / ByteSize(field.dtype)), rows_(rows) {}

  // Returns what is wrong with the values.
  std::string why() const { return why_.empty() ? "lacks it, or an element on the way does" : why_; }

 private:
  size_t rank() const { return field_.shape.size(); }

  void OnNumber(const JsonNumber& number) override {
    if (nesting() == 0) Begin();
    const auto level = static_cast<ptrdiff_t>(counts_.size());
    if (number_level_ < 0) number_level_ = level;
    if (number_level_ != level || !MayHaveNumbersAt(counts_.size())) return Fail("has lists of another shape");
    if (!counts_.empty()) ++counts_.back();
    Put(number);
  }

  void OnText(std::string_view) override { Fail("has a text"); }
  void OnOther() override { Fail("has an object, a boolean or null"); }

  void OnList() override {
    if (counts_.empty()) Begin();
    if (!counts_.empty()) ++counts_.back();
    counts_.push_back(0);
  }

  void OnListEnd() override {
    if (counts_.empty()) return;
    const size_t level = counts_.size();
    const uint64_t count = counts_.back(), wanted = CountAt(level);
    counts_.pop_back();
    if (level > 1 && count == 0) return Fail("has an empty list in a list");
    if (wanted != 0 && count != 0 && count != wanted) return Fail(absl::StrCat("has a list of ", count));
    if (number_level_ == 1 && count % row_numbers_ != 0) return Fail(absl::StrCat("has a list of ", count, " numbers"));
  }

  uint64_t Mark() const override { return rows_.size(); }
  void Rewind(uint64_t mark) override { rows_.resize(mark); }

  // Begins a value at the path.
  void Begin() {
    number_level_ = -1;
    counts_.clear();
  }

  // Whether numbers may be so deep in a value: of one row, of rows, or as one list.
  bool MayHaveNumbersAt(size_t level) const { return level == rank() || level == rank() + 1 || level == 1; }

  // Returns how many elements a list at that level has; 0 where it may have any number.
  uint64_t CountAt(size_t level) const {
    if (number_level_ < 0 || number_level_ == 1) return 0;
    const bool is_one_row = static_cast<size_t>(number_level_) == rank();
    const size_t place = level - (is_one_row ? 1 : 2);
    if (!is_one_row && level == 1) return 0;
    return place < rank() ? static_cast<uint64_t>(field_.shape[place]) : 0;
  }

  void Fail(const std::string& why) {
    if (!is_broken()) why_ = why;
    Break();
  }

  template <typename Value>
  void Append(Value value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    rows_.insert(rows_.end(), bytes, bytes + sizeof value);
  }

  template <typename Value>
  void PutWhole(const JsonNumber& number) {
    using Limits = std::numeric_limits<Value>;
    if (!number.is_whole || number.whole < Limits::min() || number.whole > Limits::max())
      return Fail(absl::StrCat("has the number ", number.real, ", which ", DtypeName(field_.dtype),
                               " does not hold; `dtype` says which type it has"));
    Append(static_cast<Value>(number.whole));
  }

  void Put(const JsonNumber& number) {
    if (is_broken()) return;
    if (rows_.size() >= kMaxSampleBytes) return Fail("has more numbers than a sample can");
    switch (field_.dtype) {
      case v1::DTYPE_UINT8: return PutWhole<uint8_t>(number);
      case v1::DTYPE_INT16: return PutWhole<int16_t>(number);
      case v1::DTYPE_INT32: return PutWhole<int32_t>(number);
      case v1::DTYPE_INT64: return PutWhole<int64_t>(number);
      case v1::DTYPE_FLOAT64: return Append(number.real);
      default: break;
    }
    if (std::abs(number.real) > std::numeric_limits<float>::max())
      return Fail("has a number that float32 does not hold");
    Append(static_cast<float>(number.real));
  }

  const SourceField& field_;
  const uint64_t row_numbers_;
  std::vector<uint8_t>& rows_;
  std::vector<uint64_t> counts_;  // elements so far of each list that is open in a value
  ptrdiff_t number_level_ = -1;   // of the value's first number
  std::string why_;
};

}  // namespace

absl::Status RowsAt(std::string_view document, const JsonPath& path, const SourceField& field,
                    std::vector<uint8_t>& rows) {
  rows.clear();
  RowsFinder finder(path, field, rows);
  if (!finder.Walk(document)) return absl::DataLossError("is not JSON");
  if (finder.is_whole()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(finder.why(), ", where rows of [", absl::StrJoin(field.shape, ", "), "] are"));
}

}  // namespace stoker
