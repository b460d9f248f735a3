#ifndef STOKER_TESTS_UNIT_SERVER_WORK_PHOTOS_H_
#define STOKER_TESTS_UNIT_SERVER_WORK_PHOTOS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/augment/self_check_images.h"
#include "server/plan/stream_plan.h"
#include "server/read/dataset.h"
#include "server/read/synthetic/photograph.h"

namespace stoker {

using Bytes = std::vector<uint8_t>;

// Encoded images in memory, and their number as a label.
class Photos : public Dataset {
 public:
  explicit Photos(std::vector<Bytes> files) : files_(std::move(files)) {}

  uint64_t size() const override { return files_.size(); }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override { return 0; }
  std::string description() const override { return "photos"; }
  std::string SampleName(uint64_t id) const override { return "photo/" + std::to_string(id); }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override {
    sample.fields = {files_[id], {static_cast<uint8_t>(id)}};
    return absl::OkStatus();
  }

 private:
  const std::vector<Bytes> files_;
  const SourceSchema schema_ = {{.name = "image", .kind = SourceField::Kind::kEncodedImage},
                                {.name = "label", .dtype = v1::DTYPE_UINT8}};
  const std::string fingerprint_ = std::string(32, 'f');
};

inline Bytes Jpeg(uint64_t seed, ImageSize size) { return EncodeJpeg(PaintPhotograph(seed, seed, size), size, 85); }

// Returns the image of that name of those that the self-check has.
inline Bytes SmallFile(const std::string& name) {
  for (const SelfCheckImage& image : kSelfCheckImages)
    if (image.name == name) {
      const std::string file = absl::HexStringToBytes(image.file);
      return {file.begin(), file.end()};
    }
  ADD_FAILURE() << "no " << name;
  return {};
}

// What a pipeline, in protobuf's text format, makes of a dataset.
inline StreamPlan Plan(const std::string& text, const Dataset& dataset) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  auto server = ServerPipeline::Create(pipeline, dataset.schema());
  EXPECT_TRUE(server.ok()) << server.status();
  v1::Identity identity;
  identity.set_samples(dataset.size());
  return *StreamPlan::Create("folder", *std::move(server), identity, 7, {}, false);
}

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_WORK_PHOTOS_H_
