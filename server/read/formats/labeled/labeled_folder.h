#ifndef STOKER_SERVER_READ_FORMATS_LABELED_LABELED_FOLDER_H_
#define STOKER_SERVER_READ_FORMATS_LABELED_LABELED_FOLDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/dataset.h"
#include "server/read/formats/files/file_list.h"
#include "server/read/formats/files/image_files.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// A dataset of the image files that a file of labels lists: see LabeledFolder in config.proto. It is immutable and
// thread-safe. A sample takes 24 bytes of memory beside its path. Symbolic links are followed, as ImageFolder does.
//
// The fingerprint is the SHA-256 of
//   "stoker.labeled_folder.v1"
//   number of samples, number of class names
//   for each class: length of its name, its name
//   for each sample, in index order: length of its path, its path, its size in bytes, its label
// where numbers are 8 bytes, little-endian.
class LabeledFolder final : public Dataset, private Labels {
 public:
  // Reads the labels and looks at each file, by `threads` threads, which wait for the disk rather than the CPU. `name`
  // is the dataset's, for errors of Read. Errors are InvalidArgument, NotFound or Unavailable. They name the key, the
  // file and the line.
  static absl::StatusOr<std::unique_ptr<LabeledFolder>> Open(const v1::LabeledFolder& config, const std::string& name,
                                                             int threads);

  uint64_t size() const override { return files_.size(); }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override;
  std::string description() const override;
  std::string SampleName(uint64_t id) const override;
  uint64_t StoredBytes(uint64_t id) const override { return files_.sizes[id]; }
  const Labels* labels() const override { return this; }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override;

 private:
  LabeledFolder(Root root, std::string name)
      : root_(std::move(root)), name_(std::move(name)), schema_(ImageAndLabel()) {}

  const std::vector<std::string>& classes() const override { return classes_; }
  LabelRun RunAt(uint64_t id) const override;

  const Root root_;
  const std::string name_;
  const SourceSchema schema_;

  // Open sets these; they are constant after it.
  FileList files_;
  std::vector<int64_t> labels_;       // of each sample
  std::vector<std::string> classes_;  // printable; empty where labels are numbers
  std::string fingerprint_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_LABELED_LABELED_FOLDER_H_
