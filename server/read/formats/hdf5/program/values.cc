#include "server/read/formats/hdf5/program/values.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

namespace stoker {
namespace {

constexpr char kType[] = "a dataset's type is damaged";
constexpr char kRead[] = "its values cannot be read";

// Bytes for the references to lists. The library would take and clear a MiB at each read.
constexpr size_t kListBuffer = 16 << 10;

Handle Copy(hid_t type) { return {H5Tcopy(type), H5Tclose, kType}; }

ValueType Other(const char* why) {
  ValueType other;
  other.why = why;
  return other;
}

ValueType Number(ColumnType type, uint32_t width, hid_t memory) {
  ValueType number;
  number.type = type;
  number.width = width;
  number.memory = Copy(memory);
  return number;
}

// Returns the type of whole numbers of so many bytes.
ValueType Whole(size_t size, bool is_signed) {
  if (size == 1 && !is_signed) return Number(ColumnType::kUint8, 1, H5T_NATIVE_UINT8);
  if (size == 1 || (size == 2 && is_signed)) return Number(ColumnType::kInt16, 2, H5T_NATIVE_INT16);
  if (size == 2 || (size == 4 && is_signed)) return Number(ColumnType::kInt32, 4, H5T_NATIVE_INT32);
  if (size == 4 || (size == 8 && is_signed)) return Number(ColumnType::kInt64, 8, H5T_NATIVE_INT64);
  if (size != 8) return Other("has whole numbers of a size that fields have not");
  ValueType large = Number(ColumnType::kInt64, 8, H5T_NATIVE_UINT64);
  large.is_unsigned = true;
  return large;
}

// The library has no float16: it is a float32 with other fields.
ValueType Half() {
  ValueType half = Number(ColumnType::kFloat16, 2, H5T_IEEE_F32LE);
  Checked(H5Tset_fields(*half.memory, 15, 10, 5, 0, 10), kType);
  Checked(H5Tset_size(*half.memory, 2), kType);
  Checked(H5Tset_ebias(*half.memory, 15), kType);
  return half;
}

ValueType Floating(hid_t stored) {
  const size_t size = H5Tget_size(stored);
  if (size == 4) return Number(ColumnType::kFloat32, 4, H5T_NATIVE_FLOAT);
  if (size == 8) return Number(ColumnType::kFloat64, 8, H5T_NATIVE_DOUBLE);
  size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  Checked(H5Tget_fields(stored, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits), kType);
  if (size == 2 && exponent_bits == 5 && mantissa_bits == 10) return Half();
  return Other("has floating point numbers of a layout that fields have not");
}

// Whether members are FALSE and TRUE, as h5py stores booleans.
bool IsBoolean(hid_t stored) {
  if (H5Tget_size(stored) != 1 || H5Tget_nmembers(stored) != 2) return false;
  for (unsigned i = 0; i < 2; ++i) {
    const std::unique_ptr<char, decltype(&H5free_memory)> name(H5Tget_member_name(stored, i), H5free_memory);
    signed char value = -1;
    if (name == nullptr || H5Tget_member_value(stored, i, &value) < 0) return false;
    if (std::strcmp(name.get(), value == 1 ? "TRUE" : "FALSE") != 0 || (value != 0 && value != 1)) return false;
  }
  return true;
}

ValueType Named(hid_t stored) {
  if (IsBoolean(stored)) return Whole(1, false);
  const Handle base(H5Tget_super(stored), H5Tclose, kType);
  return Whole(H5Tget_size(*base), H5Tget_sign(*base) != H5T_SGN_NONE);
}

ValueType Bytes(ValueType::Form form, hid_t stored) {
  ValueType bytes;
  bytes.form = form;
  bytes.type = ColumnType::kBinary;
  bytes.width = form == ValueType::Form::kOpaque ? static_cast<uint32_t>(H5Tget_size(stored)) : 0;
  bytes.memory = Copy(stored);
  return bytes;
}

ValueType List(hid_t stored) {
  const Handle base(H5Tget_super(stored), H5Tclose, kType);
  if (H5Tget_class(*base) != H5T_INTEGER || H5Tget_size(*base) != 1) return Other("has lists of several lengths");
  ValueType list = Bytes(ValueType::Form::kLists, stored);
  list.memory = Handle(H5Tvlen_create(*base), H5Tclose, kType);
  return list;
}

// Where the library puts lists: memory that is freed together, whatever becomes of the reading.
struct ListMemory {
  uint64_t left = 0;
  std::vector<std::unique_ptr<char[]>> pieces;

  static void* Take(size_t size, void* data) {
    auto& memory = *static_cast<ListMemory*>(data);
    if (size > memory.left) return nullptr;
    memory.left -= size;
    auto piece = std::unique_ptr<char[]>(new (std::nothrow) char[size]);
    char* const bytes = piece.get();
    if (bytes != nullptr) memory.pieces.push_back(std::move(piece));
    return bytes;
  }
  static void Leave(void*, void*) {}
};

DecodedColumns::Column ReadLists(hid_t dataset, const ValueType& type, hid_t memory_space, hid_t file_space,
                                 uint64_t count, uint64_t most_bytes, std::string& bytes) {
  ListMemory memory{.left = most_bytes, .pieces = {}};
  const Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose, kRead);
  Checked(H5Pset_buffer(*transfer, kListBuffer, nullptr, nullptr), kRead);
  Checked(H5Pset_vlen_mem_manager(*transfer, ListMemory::Take, &memory, ListMemory::Leave, &memory), kRead);
  std::vector<hvl_t> lists(count);
  Checked(H5Dread(dataset, *type.memory, memory_space, file_space, *transfer, lists.data()), kRead);
  DecodedColumns::Column column;
  for (const hvl_t& list : lists) {
    if (list.len > most_bytes || bytes.size() > most_bytes - list.len) throw std::runtime_error("a value is too large");
    column.sizes.push_back(list.len == 0 ? kNullRow : static_cast<uint32_t>(list.len));
    if (list.len > 0) bytes.append(static_cast<const char*>(list.p), list.len);
  }
  return column;
}

// Cuts the zeros behind texts of `size` bytes off.
DecodedColumns::Column CutTexts(uint64_t count, uint64_t size, std::string& bytes) {
  DecodedColumns::Column column;
  uint64_t end = 0;
  for (uint64_t row = 0; row < count; ++row) {
    const std::string_view text = std::string_view(bytes).substr(row * size, size);
    const size_t length = text.find_last_not_of('\0') + 1;
    if (length > 0) std::memmove(bytes.data() + end, text.data(), length);
    column.sizes.push_back(length == 0 ? kNullRow : static_cast<uint32_t>(length));
    end += length;
  }
  bytes.resize(end);
  return column;
}

// Marks the rows with a number that int64 does not hold.
void MarkTooLarge(uint64_t row_bytes, DecodedColumns::Column& column, std::string& bytes) {
  std::string kept;
  for (uint64_t row = 0; row < column.sizes.size(); ++row) {
    const std::string_view value = std::string_view(bytes).substr(row * row_bytes, row_bytes);
    bool is_too_large = false;
    for (uint64_t at = 7; at < value.size(); at += 8) is_too_large |= (value[at] & 0x80) != 0;
    if (is_too_large) {
      column.sizes[row] = kTooLargeRow;
    } else {
      kept += value;
    }
  }
  bytes = std::move(kept);
}

ValueType FormOf(hid_t stored) {
  switch (H5Tget_class(stored)) {
    case H5T_INTEGER: return Whole(H5Tget_size(stored), H5Tget_sign(stored) != H5T_SGN_NONE);
    case H5T_FLOAT: return Floating(stored);
    case H5T_ENUM: return Named(stored);
    case H5T_OPAQUE: return Bytes(ValueType::Form::kOpaque, stored);
    case H5T_VLEN: return List(stored);
    case H5T_STRING: return H5Tis_variable_str(stored) > 0 ? Other("is text") : Bytes(ValueType::Form::kTexts, stored);
    case H5T_COMPOUND: return Other("has elements of several members");
    case H5T_ARRAY: return Other("has arrays as elements");
    case H5T_REFERENCE: return Other("is references");
    case H5T_BITFIELD: return Other("is bit fields");
    case H5T_TIME: return Other("is times");
    default: return Other("is of a type that is damaged");
  }
}

}  // namespace

ValueType ValueTypeOf(hid_t stored) {
  ValueType type = FormOf(stored);
  const bool is_number = type.form == ValueType::Form::kNumbers;
  type.is_stored = type.type != ColumnType::kOther && type.form != ValueType::Form::kTexts && !type.is_unsigned &&
                   (!is_number || H5Tequal(stored, *type.memory) > 0);
  return type;
}

DecodedColumns::Column ReadValues(hid_t dataset, const ValueType& type, hid_t file_space, uint64_t count,
                                  uint64_t elements, uint64_t most_bytes, std::string& bytes) {
  const hsize_t all = count * elements;
  const Handle memory_space(H5Screate_simple(1, &all, nullptr), H5Sclose, kRead);
  if (type.form == ValueType::Form::kLists)
    return ReadLists(dataset, type, *memory_space, file_space, count, most_bytes, bytes);
  const uint64_t size = H5Tget_size(*type.memory);
  if (size == 0 || all > most_bytes / size || elements * size > kMostRowBytes)
    throw std::runtime_error("its rows are too large");
  bytes.resize(all * size);
  Checked(H5Dread(dataset, *type.memory, *memory_space, file_space, H5P_DEFAULT, bytes.data()), kRead);
  if (type.form == ValueType::Form::kTexts) return CutTexts(count, size, bytes);
  DecodedColumns::Column column;
  column.sizes.assign(count, static_cast<uint32_t>(elements * size));
  if (type.is_unsigned) MarkTooLarge(elements * size, column, bytes);
  return column;
}

}  // namespace stoker
