#include "server/decode/other.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/decode/limits.h"
#include "server/decode/magic.h"
#include "server/decode/opencv/module.h"
#include "server/decode/other_header.h"

namespace stoker {
namespace {

struct OtherFormat {
  const char* name;
  bool (*matches)(absl::string_view file);
  std::optional<ImageSize> (*size)(std::span<const uint8_t> file);
  const char* hint = "";  // what else may be wrong where `size` returns nothing
};

constexpr OtherFormat kOtherFormats[] = {
    {"BMP", [](absl::string_view file) { return absl::StartsWith(file, "BM"); }, BmpSize},
    {"PNM",
     [](absl::string_view file) { return file.size() > 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '6'; },
     PnmSize},
    {"TIFF",
     [](absl::string_view file) {
       return absl::StartsWith(file, absl::string_view("II*\0", 4)) ||
              absl::StartsWith(file, absl::string_view("MM\0*", 4));
     },
     TiffSize, ", or what is not read here: alpha, more than 8 bytes a pixel, tiles larger than the image"},
};

const OtherFormat* FormatOf(absl::string_view file) {
  for (const OtherFormat& format : kOtherFormats)
    if (format.matches(file)) return &format;
  return nullptr;
}

// The module's function, or why there is none.
struct Module {
  OpencvDecode* decode = nullptr;
  std::string error;
};

// Returns the module, which the first call loads.
const Module& LoadedModule() {
  static const Module module = [] {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::string path = program.parent_path().parent_path() / "lib/stoker/stoker-opencv.so";
    Module loaded;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) loaded.decode = reinterpret_cast<OpencvDecode*>(dlsym(library, kOpencvDecodeName));
    if (loaded.decode == nullptr) loaded.error = dlerror();
    return loaded;
  }();
  return module;
}

}  // namespace

void ForgetOtherEnvironment() {
  for (const char* name : {"OPENCV_IO_MAX_IMAGE_WIDTH", "OPENCV_IO_MAX_IMAGE_HEIGHT", "OPENCV_IO_MAX_IMAGE_PIXELS"})
    unsetenv(name);
}

bool IsOther(absl::string_view file) { return FormatOf(file) != nullptr; }

absl::StatusOr<ImageSize> ReadOtherHeader(std::span<const uint8_t> file, const DecodeOptions& options) {
  const OtherFormat& format = *FormatOf(AsText(file));
  const std::optional<ImageSize> size = format.size(file);
  if (!size.has_value())
    return absl::DataLossError(
        absl::StrCat("cannot decode this ", format.name, ": its header gives no size", format.hint));
  STOKER_RETURN_IF_ERROR(CheckSize(*size, options));
  return *size;
}

absl::Status DecodeOther(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget&,
                         DecodedImage& image) {
  const OtherFormat& format = *FormatOf(AsText(file));
  STOKER_ASSIGN_OR_RETURN(const ImageSize size, ReadOtherHeader(file, options));
  const Module& module = LoadedModule();
  if (module.decode == nullptr)
    return absl::UnavailableError(absl::StrCat(
        "decoding a ", format.name, " needs the OpenCV module, which cannot be loaded: ", module.error,
        "; Debian's package for it is stoker-server-opencv, after which the server must be started again"));
  image.Reset(WholeOf(size));
  std::vector<uint8_t> plain;
  if (format.size == PnmSize) file = plain = PlainPnm(file);
  char reason[256];
  const OpencvResult result =
      module.decode(file.data(), file.size(), size.height, size.width, image.pixels.data(), reason, sizeof reason);
  if (result == OpencvResult::kDone) return absl::OkStatus();
  const auto code =
      result == OpencvResult::kNoMemory ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kDataLoss;
  return absl::Status(code, absl::StrCat("cannot decode this ", format.name, ": ", reason));
}

}  // namespace stoker
