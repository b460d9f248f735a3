#include "server/decode/other.h"

#include <dlfcn.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/decode/limits.h"
#include "server/decode/opencv/module.h"
#include "server/decode/other_header.h"

namespace stoker {
namespace {

struct OtherFormat {
  const char* name;
  bool (*matches)(absl::string_view file);
  std::optional<ImageSize> (*size)(std::span<const uint8_t> file);
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
     TiffSize},
};

const OtherFormat* FormatOf(absl::string_view file) {
  for (const OtherFormat& format : kOtherFormats)
    if (format.matches(file)) return &format;
  return nullptr;
}

absl::string_view AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The module's function, loaded once, and why there is none.
struct Module {
  OpencvDecode* decode = nullptr;
  std::string error;
};

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

bool IsOther(absl::string_view file) { return FormatOf(file) != nullptr; }

absl::StatusOr<ImageSize> ReadOtherHeader(std::span<const uint8_t> file, const Decoder::Options& options) {
  const OtherFormat& format = *FormatOf(AsText(file));
  const std::optional<ImageSize> size = format.size(file);
  if (!size.has_value())
    return absl::DataLossError(absl::StrCat("cannot decode this ", format.name, ": its header gives no size"));
  STOKER_RETURN_IF_ERROR(CheckSize(*size, options));
  return *size;
}

absl::Status DecodeOther(std::span<const uint8_t> file, const Decoder::Options& options, const DecodeTarget&,
                         DecodedImage& image) {
  const char* name = FormatOf(AsText(file))->name;
  STOKER_ASSIGN_OR_RETURN(const ImageSize size, ReadOtherHeader(file, options));
  const Module& module = LoadedModule();
  if (module.decode == nullptr)
    return absl::UnavailableError(absl::StrCat("decoding a ", name, " takes the module for OpenCV: ", module.error));
  image.Reset(WholeOf(size));
  char reason[256];
  if (module.decode(file.data(), file.size(), size.height, size.width, image.pixels.data(), reason, sizeof reason))
    return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("cannot decode this ", name, ": ", reason));
}

}  // namespace stoker
