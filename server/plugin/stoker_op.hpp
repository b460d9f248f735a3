// stoker_op.hpp: ops of your own for Stoker's servers, in C++17, over stoker_op.h, which says what an op may do.
//
//   #include <stoker/plugin/stoker_op.hpp>
//
//   struct Fog {
//     static constexpr auto kName = "fog";
//     static constexpr uint32_t kVersion = 1;
//     static constexpr auto kSummary = "blends with white";
//     double amount = 0.5;  // An argument's default is its initial value.
//
//     template <typename Visit>
//     void Arguments(Visit&& visit) { visit("amount", amount); }
//     void Apply(const stoker::op::Image& in, stoker::op::Image& out, stoker::op::Draws& draws) const;
//   };
//   STOKER_OPS(Fog)
//
// An op may also have
//
//   const char* Check() const                             NULL, or what is wrong with the arguments: a literal.
//   void Size(int64_t& height, int64_t& width) const      Where the op changes the image's size.
//
// Arguments are double, int64_t, bool, std::string, and stoker::op::Field<T> for a field of the sample, which has the
// argument's name. Apply throws stoker::op::BadSample for a sample that cannot be used;
// any other exception blames the server's machine.
#ifndef STOKER_SERVER_PLUGIN_STOKER_OP_HPP_
#define STOKER_SERVER_PLUGIN_STOKER_OP_HPP_

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if __has_include(<stoker/plugin/stoker_op.h>)
#include <stoker/plugin/stoker_op.h>
#else
#include "server/plugin/stoker_op.h"
#endif

namespace stoker::op {

// height × width pixels of three bytes, red, green and blue, row after row without gaps.
using Image = stoker_op_image;

inline uint8_t* PixelAt(const Image& image, int64_t y, int64_t x) { return image.pixels + 3 * (y * image.width + x); }

// The random numbers of one op for one sample.
class Draws {
 public:
  explicit Draws(stoker_op_draws* draws) : draws_(draws) {}

  uint32_t Bits() { return draws_->bits(draws_); }
  // Uniform in [low, high]; low, where it is above high.
  double Uniform(double low, double high) { return draws_->uniform(draws_, low, high); }
  // Uniform in [0, bound); 0, where that is 0.
  uint64_t Below(uint64_t bound) { return draws_->below(draws_, bound); }
  bool Bernoulli(double p) { return Uniform(0, 1) < p; }
  // What as many calls of Bits() give, but faster.
  void Fill(std::vector<uint32_t>& words) { draws_->fill(draws_, words.data(), words.size()); }

 private:
  stoker_op_draws* draws_;
};

// What a sample has in a field: numbers of T, row after row. Where samples differ in size the shape begins with the number
// of rows. Its initial value is what the server's trial takes, and says how many dimensions the field has.
template <typename T>
struct Field {
  std::vector<int64_t> shape;
  std::vector<T> numbers = std::vector<T>(1);
};

// Says that this sample cannot be used.
class BadSample : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Hidden, so that ops of other libraries whose structs are called alike have statics of their own.
#if defined(__GNUC__)
namespace internal __attribute__((visibility("hidden"))) {
#else
namespace internal {
#endif

template <typename Op, typename = void>
struct HasSize : std::false_type {};
template <typename Op>
struct HasSize<Op, std::void_t<decltype(&Op::Size)>> : std::true_type {};

template <typename Op, typename = void>
struct HasCheck : std::false_type {};
template <typename Op>
struct HasCheck<Op, std::void_t<decltype(&Op::Check)>> : std::true_type {};

template <typename T>
constexpr int32_t DtypeOf() {
  if (std::is_same_v<T, uint8_t>) return STOKER_OP_UINT8;
  if (std::is_same_v<T, int16_t>) return STOKER_OP_INT16;
  if (std::is_same_v<T, int32_t>) return STOKER_OP_INT32;
  if (std::is_same_v<T, int64_t>) return STOKER_OP_INT64;
  if (std::is_same_v<T, float>) return STOKER_OP_FLOAT32;
  if (std::is_same_v<T, double>) return STOKER_OP_FLOAT64;
  return 0;
}

// Lists an op's arguments, with the values that they begin with.
struct Lister {
  std::vector<stoker_op_argument>& list;
  std::deque<stoker_op_field>& fields;

  void operator()(const char* name, double& value) { Add(name, STOKER_OP_NUMBER).number = value; }
  void operator()(const char* name, int64_t& value) { Add(name, STOKER_OP_INTEGER).integer = value; }
  void operator()(const char* name, bool& value) { Add(name, STOKER_OP_BOOLEAN).integer = value ? 1 : 0; }
  void operator()(const char* name, std::string& value) { Add(name, STOKER_OP_TEXT).text = value.c_str(); }

  template <typename T>
  void operator()(const char* name, Field<T>& value) {
    static_assert(DtypeOf<T>() != 0, "a field has numbers of uint8_t, int16_t, int32_t, int64_t, float or double");
    fields.push_back({DtypeOf<T>(), value.shape.size(), value.shape.data(), value.numbers.data()});
    Add(name, STOKER_OP_FIELD).field = &fields.back();
  }

  stoker_op_value& Add(const char* name, int32_t type) {
    list.push_back({name, type, 0, {0}});
    return list.back().otherwise;
  }
};

// Sets an op's arguments to values in the same order.
struct Setter {
  const stoker_op_value* next;

  void operator()(const char*, double& value) { value = next++->number; }
  void operator()(const char*, int64_t& value) { value = next++->integer; }
  void operator()(const char*, bool& value) { value = next++->integer != 0; }
  void operator()(const char*, std::string& value) { value = next++->text; }
  template <typename T>
  void operator()(const char*, Field<T>& value) {
    const stoker_op_field& field = *next++->field;
    value.shape.assign(field.shape, field.shape + field.dimensions);
    size_t count = 1;
    for (const int64_t extent : value.shape) count *= static_cast<size_t>(extent);
    value.numbers.resize(count);
    if (count > 0) std::memcpy(value.numbers.data(), field.data, count * sizeof(T));
  }
};

template <typename Op>
Op With(const stoker_op_value* values) {
  Op op;
  op.Arguments(Setter{values});
  return op;
}

template <typename Op>
int32_t Apply(const stoker_op_value* values, stoker_op_draws* draws, const stoker_op_image* in, stoker_op_image* out,
              char* why, size_t why_bytes) {
  try {
    Draws of_sample(draws);
    With<Op>(values).Apply(*in, *out, of_sample);
    return STOKER_OP_OK;
  } catch (const BadSample& error) {
    std::snprintf(why, why_bytes, "%s", error.what());
    return STOKER_OP_BAD_SAMPLE;
  } catch (const std::exception& error) {
    std::snprintf(why, why_bytes, "%s", error.what());
  } catch (...) {
    std::snprintf(why, why_bytes, "it threw what is no std::exception");
  }
  return STOKER_OP_FAILED;
}

template <typename Op>
const char* Check(const stoker_op_value* values) {
  try {
    return With<Op>(values).Check();
  } catch (...) {
    return "its check threw an exception";
  }
}

// Where it throws, the size is none, which the server refuses.
template <typename Op>
void Size(const stoker_op_value* values, int64_t* height, int64_t* width) {
  try {
    With<Op>(values).Size(*height, *width);
  } catch (...) {
    *height = *width = 0;
  }
}

// The table's entry of an op. What it points to lives as long as the process.
template <typename Op>
stoker_op EntryOf() {
  static Op defaults;  // Its texts and fields are the arguments' defaults.
  static std::deque<stoker_op_field> fields;
  static const std::vector<stoker_op_argument> arguments = [] {
    std::vector<stoker_op_argument> list;
    defaults.Arguments(Lister{list, fields});
    return list;
  }();
  stoker_op entry = {Op::kName, Op::kVersion, Op::kSummary, arguments.data(), arguments.size(), nullptr, nullptr,
                     Apply<Op>};
  if constexpr (HasCheck<Op>::value) entry.check = Check<Op>;
  if constexpr (HasSize<Op>::value) entry.size = Size<Op>;
  return entry;
}

template <typename... Ops>
const stoker_op_table* Library() {
  static const stoker_op entries[] = {EntryOf<Ops>()...};
  static const stoker_op_table table = {STOKER_OP_ABI, entries, sizeof...(Ops)};
  return &table;
}

}  // namespace internal
}  // namespace stoker::op

// Makes the shared object that this stands in a library of these ops. It stands once, outside of all namespaces.
#define STOKER_OPS(...) \
  extern "C" const struct stoker_op_table* stoker_op_library(void) { return stoker::op::internal::Library<__VA_ARGS__>(); }

#endif  // STOKER_SERVER_PLUGIN_STOKER_OP_HPP_
