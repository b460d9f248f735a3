#include "server/decode/audio/audio_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

absl::StatusOr<AudioLibrary> Load() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = program.parent_path().parent_path() / "lib/stoker/stoker-audio.so";
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return absl::UnavailableError(
        absl::StrCat("audio needs the module stoker-audio.so and libsndfile, which cannot be loaded: ", dlerror()));
  const auto function = [&]<typename Function>(const char* name, Function*& to) {
    to = reinterpret_cast<Function*>(dlsym(library, name));
    return to != nullptr;
  };
  AudioLibrary loaded;
  if (function(kAudioModuleOpen, loaded.open) && function(kAudioModuleGoTo, loaded.go_to) &&
      function(kAudioModuleNext, loaded.next) && function(kAudioModuleClose, loaded.close))
    return loaded;
  return absl::UnavailableError(absl::StrCat(path, " is of another version of stokerd"));
}

}  // namespace

absl::StatusOr<AudioLibrary> LoadedAudioLibrary() {
  static const absl::StatusOr<AudioLibrary> library = Load();
  return library;
}

}  // namespace stoker
