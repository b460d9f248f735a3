#ifndef STOKER_TESTS_UNIT_SERVER_SCAN_LISTED_SAMPLES_H_
#define STOKER_TESTS_UNIT_SERVER_SCAN_LISTED_SAMPLES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/read/dataset.h"
#include "server/read/synthetic/photograph.h"

namespace stoker {

// A dataset of the images given. Sample `id` is called "s/ID", and those in `failing` fail as they say, behind its
// name.
class ListedSamples : public Dataset, private Labels {
 public:
  explicit ListedSamples(std::vector<std::vector<uint8_t>> images) : images_(std::move(images)) {}

  uint64_t size() const override { return images_.size(); }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override { return 0; }
  std::string description() const override { return "listed samples"; }
  std::string SampleName(uint64_t id) const override { return absl::StrCat("s/", id); }
  const Labels* labels() const override { return labels_by == 0 ? nullptr : this; }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override {
    if (before_read) before_read(id);
    if (const auto found = failing.find(id); found != failing.end())
      return {found->second.code(), absl::StrCat("listed: s/", id, ": ", found->second.message())};
    sample.fields = {images_[id], {0, 0, 0, 0, 0, 0, 0, 0}};
    return absl::OkStatus();
  }

  std::map<uint64_t, absl::Status> failing;
  std::function<void(uint64_t id)> before_read;
  uint64_t labels_by = 0;  // samples of a class; 0: the index has no labels

 private:
  const std::vector<std::string>& classes() const override { return classes_; }
  LabelRun RunAt(uint64_t id) const override {
    return {static_cast<int64_t>(id / labels_by), (id / labels_by + 1) * labels_by};
  }

  const std::vector<std::vector<uint8_t>> images_;
  const SourceSchema schema_ = {{.name = "image", .kind = SourceField::Kind::kEncodedImage},
                                {.name = "label", .dtype = v1::DTYPE_INT64}};
  const std::string fingerprint_ = std::string(32, 'f');
  const std::vector<std::string> classes_;
};

// Photographs of 40×60 pixels, no two of which are alike.
inline std::vector<std::vector<uint8_t>> Photographs(int count) {
  std::vector<std::vector<uint8_t>> photographs;
  for (int i = 0; i < count; ++i) photographs.push_back(EncodeJpeg(PaintPhotograph(i, i, {40, 60}), {40, 60}, 90));
  return photographs;
}

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_SCAN_LISTED_SAMPLES_H_
