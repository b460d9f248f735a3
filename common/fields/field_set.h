#ifndef STOKER_COMMON_FIELDS_FIELD_SET_H_
#define STOKER_COMMON_FIELDS_FIELD_SET_H_

#include <cstddef>
#include <cstdint>

namespace stoker {

// Some fields of a schema, by their places in it. A plain value. Only the first kMost can be left out: those behind
// them are in every set.
class FieldSet {
 public:
  static constexpr size_t kMost = 64;

  // Those of all fields, of any schema.
  static constexpr FieldSet All() { return FieldSet(~uint64_t{}); }

  FieldSet() = default;

  void Add(size_t field) {
    if (field < kMost) fields_ |= uint64_t{1} << field;
  }
  bool Has(size_t field) const { return field >= kMost || (fields_ >> field & 1) != 0; }

  friend bool operator==(const FieldSet&, const FieldSet&) = default;

 private:
  explicit constexpr FieldSet(uint64_t fields) : fields_(fields) {}

  uint64_t fields_ = 0;  // a bit for each
};

}  // namespace stoker

#endif  // STOKER_COMMON_FIELDS_FIELD_SET_H_
