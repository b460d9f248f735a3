#ifndef STOKER_SERVER_PREPARE_SAMPLE_SOURCE_H_
#define STOKER_SERVER_PREPARE_SAMPLE_SOURCE_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/dataset.h"
#include "server/read/formats/folder/image_folder.h"

namespace stoker {

// What is put into shards: the samples of a dataset, in the order of their ids. Immutable, hence thread-safe; the
// dataset must outlive it.
class SampleSource {
 public:
  virtual ~SampleSource() = default;

  virtual const Dataset& dataset() const = 0;

  // Returns the sample's name, which no other sample has. A later run knows the sample by it.
  virtual std::string NameOf(uint64_t id) const = 0;

  // Returns the printable names of the classes, by label; none where labels have no names.
  std::vector<std::string> Classes() const;
};

// The files of class folders, which are called by their paths as they are.
class FolderSource final : public SampleSource {
 public:
  explicit FolderSource(const ImageFolder& folder) : folder_(folder) {}

  const Dataset& dataset() const override { return folder_; }
  std::string NameOf(uint64_t id) const override { return folder_.index().Path(id); }

 private:
  const ImageFolder& folder_;
};

// The samples of any dataset, which are called as the dataset calls them. Where several have one name, as members of
// different tar shards may, those after the first have "#2", "#3" … behind it, in the order of their ids. It takes 8
// bytes of memory a sample while it is made, and then some of each sample that shares its name.
class DatasetSource final : public SampleSource {
 public:
  // InvalidArgument where the names cannot be told apart.
  static absl::StatusOr<DatasetSource> Create(const Dataset& dataset);

  const Dataset& dataset() const override { return dataset_; }
  std::string NameOf(uint64_t id) const override;

 private:
  explicit DatasetSource(const Dataset& dataset) : dataset_(dataset) {}

  const Dataset& dataset_;
  std::unordered_map<uint64_t, uint64_t> numbers_;  // tells samples of one name apart: the second has 2
};

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_SAMPLE_SOURCE_H_
