#ifndef STOKER_TESTS_UNIT_SERVER_READ_FORMATS_STORED_FOLDER_FAKE_BUCKET_H_
#define STOKER_TESTS_UNIT_SERVER_READ_FORMATS_STORED_FOLDER_FAKE_BUCKET_H_

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "server/read/stores/store.h"

namespace stoker {

// Objects in memory with versions, as a bucket has them. A test changes it between calls only.
class FakeBucket final : public Store {
 public:
  struct Object {
    std::string bytes;
    std::string version = "\"00112233445566778899aabbccddeeff\"";
  };

  std::string description() const override { return "s3://bucket/train"; }
  bool is_remote() const override { return true; }

  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing& listing) override {
    if (!lists) return absl::UnimplementedError("cannot list");
    ++listings;
    std::vector<ObjectInfo> found;
    for (const auto& [name, object] : objects)
      if (absl::StartsWith(name, listing.prefix)) found.push_back({name, object.bytes.size(), object.version});
    return found;
  }

  absl::StatusOr<std::vector<std::string>> Folders() override {
    if (!lists || !tells_folders) return absl::UnimplementedError("cannot list folders");
    std::set<std::string> folders;
    for (const auto& [name, object] : objects)
      if (name.find('/') != name.npos) folders.insert(name.substr(0, name.find('/')));
    return std::vector<std::string>(folders.begin(), folders.end());
  }

  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override {
    std::vector<ObjectInfo> found;
    for (const std::string& name : names) {
      ++described;
      const auto object = objects.find(name);
      if (object == objects.end()) return absl::NotFoundError(name + ": is not there");
      found.push_back({name, object->second.bytes.size(), object->second.version});
    }
    return found;
  }

  void Read(const Range& range, Done done) override {
    const auto object = objects.find(range.object->name);
    if (object == objects.end()) return done(absl::NotFoundError("is not there"));
    const auto& [bytes, version] = object->second;
    const bool same =
        bytes.size() == range.object->size && (range.object->version.empty() || version == range.object->version);
    if (!same) return done(absl::FailedPreconditionError("changed since it was indexed"));
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(range.offset), range.into.size(), range.into.begin());
    done(absl::OkStatus());
  }

  std::map<std::string, Object> objects;
  bool lists = true, tells_folders = true;
  std::atomic<int> listings = 0, described = 0;
};

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_READ_FORMATS_STORED_FOLDER_FAKE_BUCKET_H_
