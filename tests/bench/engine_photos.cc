#include "tests/bench/engine_photos.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "opencv2/imgcodecs.hpp"
#include "opencv2/imgproc.hpp"
#include "server/decode/decoder.h"
#include "tests/support/photo_folder.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr int kLongSide = 500, kQuality = 90;

absl::StatusOr<std::vector<std::string>> JpegsBelow(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string extension = absl::AsciiStrToLower(at->path().extension().string());
    if (extension == ".jpg" || extension == ".jpeg") paths.push_back(fs::absolute(at->path()));
  }
  if (error) return absl::NotFoundError(absl::StrCat("cannot read ", folder, ": ", error.message()));
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<uint8_t> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Adds the file if it decodes.
absl::Status Add(const std::string& path, std::vector<uint8_t> bytes, Decoder& decoder, Photos& photos) {
  STOKER_ASSIGN_OR_RETURN(const ImageSize size, decoder.Open(bytes, {}));
  DecodedImage image;
  STOKER_RETURN_IF_ERROR(decoder.Decode({WholeOf(size)}, image));
  photos.mean_bytes += bytes.size();
  photos.mean_pixels += size.height * size.width;
  if (!path.empty()) photos.paths.push_back(path);
  photos.samples.push_back({{std::move(bytes)}});
  return absl::OkStatus();
}

void SumsToMeans(Photos& photos) {
  photos.mean_bytes /= photos.samples.size();
  photos.mean_pixels /= photos.samples.size();
}

}  // namespace

absl::StatusOr<Photos> LoadPhotos(const std::string& folder, size_t limit) {
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> paths, JpegsBelow(folder));
  const size_t count = std::min(limit, paths.size());
  Photos photos;
  Decoder decoder;
  for (size_t i = 0; i < count; ++i) {
    const std::string& path = paths[i * paths.size() / count];
    const absl::Status status = Add(path, ReadFile(path), decoder, photos);
    if (!status.ok()) std::fprintf(stderr, "left out: %s: %s\n", path.c_str(), std::string(status.message()).c_str());
  }
  if (photos.samples.empty()) return absl::NotFoundError(absl::StrCat("no JPEG that decodes below ", folder));
  SumsToMeans(photos);
  return photos;
}

absl::StatusOr<std::string> PaintedPhotos() {
  const fs::path build = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  const std::string folder = build / "bench-engine-photos", part = folder + ".part";
  if (fs::exists(folder)) return folder;
  std::fprintf(stderr, "painting photographs into %s\n", folder.c_str());
  PhotoFolderOptions options;
  options.images = 20;
  fs::remove_all(part);
  STOKER_RETURN_IF_ERROR(WritePhotoFolder(part, options));
  fs::rename(part, folder);
  return folder;
}

Photos Reencode(const Photos& photos) {
  Photos reencoded;
  Decoder decoder;
  for (const SampleBytes& sample : photos.samples) {
    const cv::Mat image = cv::imdecode(sample.fields[0], cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
    const double scale = static_cast<double>(kLongSide) / std::max(image.rows, image.cols);
    cv::Mat resized;
    cv::resize(image, resized, {}, scale, scale, scale < 1 ? cv::INTER_AREA : cv::INTER_LINEAR);
    std::vector<uint8_t> bytes;
    STOKER_CHECK(cv::imencode(".jpg", resized, bytes, {cv::IMWRITE_JPEG_QUALITY, kQuality}));
    STOKER_CHECK(Add("", std::move(bytes), decoder, reencoded).ok());
  }
  SumsToMeans(reencoded);
  return reencoded;
}

}  // namespace stoker
