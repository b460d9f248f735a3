#include "server/read/formats/files/image_files.h"

#include <fcntl.h>

#include <bit>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

static_assert(std::endian::native == std::endian::little);  // A label's bytes are those of an int64_t.

}  // namespace

bool IsImageFileName(std::string_view name) {
  for (const char* extension : {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".pbm", ".pgm", ".ppm", ".tif", ".tiff"})
    if (absl::EndsWithIgnoreCase({name.data(), name.size()}, extension)) return true;
  return false;
}

absl::Status CheckImageFileSize(uint64_t bytes) {
  if (bytes <= kMaxImageFileBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(bytes, " bytes; images above ", kMaxImageFileBytes, " bytes are not read: remove it"));
}

SourceSchema ImageAndLabel() {
  SourceField image, label;
  image.name = "image";
  image.kind = SourceField::Kind::kEncodedImage;
  label.name = "label";
  label.dtype = v1::DTYPE_INT64;
  return {image, label};
}

absl::StatusOr<Root> OpenRoot(const std::string& key, const std::string& path, const std::string& expected) {
  const auto error = [&](absl::StatusCode code, absl::string_view place, absl::string_view reason) {
    return absl::Status(code, absl::StrCat(key, ": ", ShortPrintableName({place.data(), place.size()}), ": ", reason,
                                           "; expected ", expected));
  };
  if (path.empty()) return absl::InvalidArgumentError(absl::StrCat(key, ": missing"));
  if (path.find('\0') != std::string::npos) return absl::InvalidArgumentError(absl::StrCat(key, ": holds a zero byte"));
  const std::unique_ptr<char, void (*)(void*)> canonical(realpath(path.c_str(), nullptr), std::free);
  if (canonical == nullptr) {
    const int number = errno;
    const bool missing = number == ENOENT || number == ENOTDIR;
    return error(missing ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable, path, ErrnoText(number));
  }
  auto folder = OpenAt(AT_FDCWD, canonical.get(), O_DIRECTORY);
  if (folder.ok()) return Root{canonical.get(), *std::move(folder)};
  // The path was found, so NotFound (ENOTDIR) says that it is a file.
  const bool is_file = absl::IsNotFound(folder.status());
  return error(is_file ? absl::StatusCode::kInvalidArgument : folder.status().code(), canonical.get(),
               folder.status().message());
}

absl::Status ReadImageAndLabel(const Descriptor& folder, const std::string& path, uint64_t bytes,
                               ModifiedSecond modified, int64_t label, SampleBytes& sample) {
  sample.fields.resize(2);
  if (sample.wanted.Has(kImage))
    STOKER_RETURN_IF_ERROR(ReadFile(folder.number(), path, bytes, sample.fields[kImage], modified));
  sample.fields[kLabel].resize(sizeof(label));
  std::memcpy(sample.fields[kLabel].data(), &label, sizeof(label));
  return absl::OkStatus();
}

}  // namespace stoker
