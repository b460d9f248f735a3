#include "tests/support/photo_folder.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/identity/mix.h"
#include "common/status_macros.h"
#include "server/read/synthetic/photograph.h"

namespace stoker {
namespace {

absl::Status Check(const PhotoFolderOptions& options) {
  if (options.classes < 1 || options.images < 1) return absl::InvalidArgumentError("classes and images: at least 1");
  if (std::min(options.size.height, options.size.width) < 1 ||
      std::max(options.size.height, options.size.width) > 16384)
    return absl::InvalidArgumentError("width and height: 1 to 16384 pixels");
  if (options.quality < 1 || options.quality > 100) return absl::InvalidArgumentError("quality: 1 to 100");
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  file.close();
  return file ? absl::OkStatus() : absl::UnavailableError(absl::StrCat("cannot write ", path));
}

}  // namespace

absl::Status WritePhotoFolder(const std::string& folder, const PhotoFolderOptions& options) {
  STOKER_RETURN_IF_ERROR(Check(options));
  int written = 0;
  for (int label = 0; label < options.classes; ++label) {
    const std::string class_folder = absl::StrFormat("%s/class-%02d", folder, label);
    std::error_code error;
    std::filesystem::create_directories(class_folder, error);
    if (error) return absl::UnavailableError(absl::StrCat("cannot make ", class_folder, ": ", error.message()));
    for (int image = 0; image < options.images; ++image) {
      const uint64_t seed = MixAll({static_cast<uint64_t>(label), static_cast<uint64_t>(image)});
      const std::vector<uint8_t> pixels = PaintPhotograph(seed, label, options.size);
      STOKER_RETURN_IF_ERROR(WriteFile(absl::StrFormat("%s/image-%04d.jpg", class_folder, image),
                                       EncodeJpeg(pixels, options.size, options.quality)));
      if (options.progress) options.progress(++written);
    }
  }
  return absl::OkStatus();
}

}  // namespace stoker
