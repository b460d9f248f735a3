#ifndef STOKER_TESTS_FUZZ_MEMORY_STORE_H_
#define STOKER_TESTS_FUZZ_MEMORY_STORE_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/read/stores/store.h"

namespace stoker {

// Objects in memory. A range that does not lie in its object is a mistake of the reader's, and ends the program.
class MemoryStore final : public Store {
 public:
  using Objects = std::map<std::string, std::vector<uint8_t>>;

  MemoryStore(Objects objects, bool remote) : objects_(std::move(objects)), remote_(remote) {}

  ObjectInfo Object(const std::string& name) const { return {name, objects_.at(name).size(), ""}; }

  std::string description() const override { return "memory"; }
  bool is_remote() const override { return remote_; }

  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing& listing) override {
    std::vector<ObjectInfo> found;
    for (const auto& [name, bytes] : objects_)
      if (name.starts_with(listing.prefix)) found.push_back(Object(name));
    return found;
  }

  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override {
    std::vector<ObjectInfo> found;
    for (const std::string& name : names) {
      if (!objects_.contains(name)) return absl::NotFoundError(name);
      found.push_back(Object(name));
    }
    return found;
  }

  void Read(const Range& range, Done done) override {
    const std::vector<uint8_t>& bytes = objects_.at(range.object->name);
    if (range.offset > bytes.size() || range.into.size() > bytes.size() - range.offset) std::abort();
    if (!range.into.empty()) std::memcpy(range.into.data(), bytes.data() + range.offset, range.into.size());
    done(absl::OkStatus());
  }

 private:
  const Objects objects_;
  const bool remote_;
};

}  // namespace stoker

#endif  // STOKER_TESTS_FUZZ_MEMORY_STORE_H_
