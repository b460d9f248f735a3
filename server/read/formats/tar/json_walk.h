#ifndef STOKER_SERVER_READ_FORMATS_TAR_JSON_WALK_H_
#define STOKER_SERVER_READ_FORMATS_TAR_JSON_WALK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"
#include "server/read/formats/tar/json_path.h"

namespace stoker {

// A number of a JSON document.
struct JsonNumber {
  bool is_whole = false;  // it is written as a whole number and fits into int64
  int64_t whole = 0;
  double real = 0;  // in both cases
};

// Walks through a JSON document once and hands on what lies at a path; nothing else of the document is kept. Any bytes
// are safe. Where an object has a key twice, the later one counts, as in Python: what was handed on of the earlier one
// is taken back. Single owner; it walks once.
class JsonWalk : private nlohmann::json_sax<nlohmann::json> {
 public:
  // `path` must outlive the object.
  explicit JsonWalk(const JsonPath& path) : path_(path) {}

  // Returns false where the document is not JSON.
  bool Walk(std::string_view document);

  // After the walk: whether the path led to a value, and by each element that it goes into, and nothing called Break.
  bool is_whole() const { return !is_broken_; }

 protected:
  // Called for a value at the path and, if that is a list or an object, for all in it.
  virtual void OnNumber(const JsonNumber& number) = 0;
  virtual void OnText(std::string_view text) = 0;
  virtual void OnOther() = 0;  // a boolean, null, or the beginning of an object
  virtual void OnList() = 0;
  virtual void OnListEnd() = 0;

  // Returns how much was handed on so far, and takes back what was beyond that.
  virtual uint64_t Mark() const = 0;
  virtual void Rewind(uint64_t mark) = 0;

  // Returns the lists and objects that are open at a value at the path: 0 for that value itself. A list counts from
  // OnList on until OnListEnd returns.
  size_t nesting() const { return open_there_; }

  // Says that the value that was handed on last, or is being, is not what was looked for.
  void Break() { is_broken_ = true; }
  bool is_broken() const { return is_broken_; }

 private:
  // A list or object that is open and lies on the path.
  struct Container {
    bool is_list = false;
    bool leads_on = false;  // the path goes on in it
    uint64_t next = 0;      // place of a list
    uint64_t mark = 0;      // before what the path leads to in it
    bool was_broken = false;
  };

  bool null() override { return Other(); }
  bool boolean(bool) override { return Other(); }
  bool binary(binary_t&) override { return Other(); }
  bool string(string_t& text) override;
  bool number_integer(number_integer_t value) override { return Take({true, value, static_cast<double>(value)}); }
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t value, const string_t&) override { return Take({false, 0, value}); }
  bool start_object(size_t) override { return Open(/*is_list=*/false); }
  bool start_array(size_t) override { return Open(/*is_list=*/true); }
  bool end_object() override { return Close(/*is_list=*/false); }
  bool end_array() override { return Close(/*is_list=*/true); }
  bool key(string_t& key) override;
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

  bool Take(const JsonNumber& number);
  bool Other();
  bool Open(bool is_list);
  bool Close(bool is_list);
  bool IsOnPath();
  bool IsThere();

  const JsonPath& path_;
  size_t depth_ = 0;                // containers that are open
  size_t open_there_ = 0;           // those of them in a value at the path
  std::vector<Container> on_path_;  // the outermost of them, at most as many as the path has steps
  bool key_leads_on_ = false;       // the last key of the innermost one on the path is the path's
  bool is_broken_ = false;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TAR_JSON_WALK_H_
