#ifndef STOKER_TESTS_UNIT_SERVER_PREPARE_PREPARE_FIXTURE_H_
#define STOKER_TESTS_UNIT_SERVER_PREPARE_PREPARE_FIXTURE_H_

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "server/augment/self_check_images.h"
#include "server/decode/decoder.h"
#include "server/prepare/prepare.h"
#include "server/read/formats/folder/image_folder.h"
#include "tests/unit/server/prepare/jpeg_files.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {

inline std::string Text(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

// Of the embedded ones, of 29×19 pixels: "PNG", "lossy WebP".
inline std::string EmbeddedFile(const std::string& name) {
  for (const SelfCheckImage& image : kSelfCheckImages)
    if (image.name == name) return absl::HexStringToBytes(image.file);
  ADD_FAILURE() << name;
  return "";
}

inline absl::StatusOr<ImageSize> SizeOf(const std::string& file) {
  return Decoder().Open({reinterpret_cast<const uint8_t*>(file.data()), file.size()}, {});
}

inline JpegMarkers MarkersOf(const std::string& file) {
  return ReadMarkers({reinterpret_cast<const uint8_t*>(file.data()), file.size()});
}

// A source "in" of 12 files in 3 classes, and an "out" that does not exist yet.
class PrepareTest : public testing::Test {
 protected:
  PrepareTest() {
    const std::vector<JpegKind> kinds = AllJpegKinds();
    for (int i = 0; i < 9; ++i)
      folder_.Write("in/" + std::string(1, 'a' + i / 4) + "/sub/" + std::to_string(i) + ".jpg",
                    Text(MakeJpeg(kinds[i], {40 + i, 64 - 3 * i}, i + 1)));
    folder_.Write("in/c/a picture.PNG", EmbeddedFile("PNG"));
    folder_.Write("in/c/b.webp", EmbeddedFile("lossy WebP"));
    folder_.Write("in/c/damaged.jpeg", Text(MakeJpeg({}, {64, 64})).substr(0, 900));
    folder_.Write("in/c/notes.txt", "not an image");
  }

  PrepareOptions Lossless() const {
    PrepareOptions options = {.data = folder_.path("in"), .out = folder_.path("out"), .workers = 2, .tool = "a test"};
    options.mode.mutable_lossless()->set_restart_interval(4);
    return options;
  }

  PrepareOptions ShortSide(uint32_t size) const {
    PrepareOptions options = Lossless();
    options.mode.mutable_short_side()->set_size(size);
    options.mode.mutable_short_side()->set_quality(95);
    options.mode.mutable_short_side()->set_restart_interval(4);
    return options;
  }

  // Resize to 24, CenterCrop to 20.
  PrepareOptions Pipeline() const {
    PrepareOptions options = Lossless();
    options.mode.mutable_pipeline()->add_ops()->mutable_resize()->add_size(24);
    options.mode.mutable_pipeline()->add_ops()->mutable_center_crop()->add_size(20);
    return options;
  }

  PrepareReport Prepared(const PrepareOptions& options) const {
    auto report = Prepare(options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *report : PrepareReport{};
  }

  std::string Refusal(const PrepareOptions& options) const {
    const auto report = Prepare(options);
    EXPECT_FALSE(report.ok());
    return std::string(report.status().message());
  }

  absl::StatusOr<std::unique_ptr<ImageFolder>> Open(const std::string& name) const {
    v1::ImageFolder config;
    config.set_path(folder_.path(name));
    return ImageFolder::Open(config, {});
  }

  // Bytes by path below `name`.
  std::map<std::string, std::string> Content(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path(name))) {
      const std::string below = entry.path().lexically_relative(folder_.path(name));
      if (entry.is_regular_file()) files[below] = folder_.Read(name + "/" + below);
    }
    return files;
  }

  // When each file and folder below `name` was changed, in nanoseconds.
  std::map<std::string, int64_t> Times(const std::string& name) const {
    std::map<std::string, int64_t> times;
    const auto add = [&](const std::string& path) {
      struct stat status;
      EXPECT_EQ(stat(path.c_str(), &status), 0);
      times[path] = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
    };
    add(folder_.path(name));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path(name))) add(entry.path());
    return times;
  }

  TemporaryFolder folder_;
};

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_PREPARE_PREPARE_FIXTURE_H_
