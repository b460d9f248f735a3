#ifndef STOKER_TESTS_UNIT_SERVER_WORK_SELECT_FAKE_DATASET_H_
#define STOKER_TESTS_UNIT_SERVER_WORK_SELECT_FAKE_DATASET_H_

#include <string>
#include <utility>
#include <vector>

#include "server/read/dataset.h"

namespace stoker {

// A dataset that has an index and nothing to read. Sample 12 is called "sample-12", unless it is given names.
class FakeDataset : public Dataset, private Labels {
 public:
  explicit FakeDataset(uint64_t samples) : size_(samples) {}

  // Sample i gets the i-th of `labels`.
  FakeDataset(std::vector<std::string> classes, std::vector<int64_t> labels)
      : size_(labels.size()), classes_(std::move(classes)), labels_(std::move(labels)) {}

  uint64_t size() const override { return size_; }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override { return 0; }
  std::string description() const override { return "fake"; }
  std::string SampleName(uint64_t id) const override {
    return names.empty() ? "sample-" + std::to_string(id) : names[id];
  }
  bool names_are_lasting() const override { return lasting; }
  const Labels* labels() const override { return labels_.empty() ? nullptr : this; }
  absl::Status Read(uint64_t, SampleBytes&) const override { return absl::UnimplementedError("a fake"); }

  std::vector<std::string> names;
  bool lasting = true;

 private:
  const std::vector<std::string>& classes() const override { return classes_; }
  LabelRun RunAt(uint64_t id) const override { return {labels_[id], id + 1}; }

  const uint64_t size_;
  const SourceSchema schema_;
  const std::string fingerprint_ = std::string(32, 'f');
  const std::vector<std::string> classes_;
  const std::vector<int64_t> labels_;
};

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_WORK_SELECT_FAKE_DATASET_H_
