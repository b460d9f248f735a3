#include "client/cli/state_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "client/cli/output_file.h"
#include "client/schedule/batch_plan.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "nlohmann/json.hpp"

namespace stoker {
namespace {

constexpr char kDigest[] = "digest";
constexpr size_t kMostBytes = 64 << 10;  // the largest file that is read; a state has less than 1 KiB

absl::Status Named(const std::string& path, const absl::Status& status) {
  return {status.code(), absl::StrCat("--state ", path, ": ", status.message())};
}

absl::StatusOr<std::string> Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) return absl::ErrnoToStatus(errno, "cannot be read");
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMostBytes) return absl::InvalidArgumentError("is too large for a state");
  return text;
}

// Returns the text of the file's key "digest", or an empty string.
std::string DigestIn(const nlohmann::json& state) {
  return state.contains(kDigest) && state[kDigest].is_string() ? state[kDigest].get<std::string>() : "";
}

uint64_t SamplesOf(const Loader& loader) { return loader.description().identity().samples(); }

}  // namespace

void AddStateFlag(CLI::App& command, const std::string& help, std::string& path) {
  command.add_option("--state", path, help)->type_name("FILE");
}

absl::StatusOr<SavedState> RestoreFrom(const std::string& path, Loader& loader) {
  SavedState saved{.path = path};
  if (path.empty()) return saved;
  if (const absl::Status status = CheckReplaceable(path); !status.ok()) return Named(path, status);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return saved;
  const auto text = Read(path);
  if (!text.ok()) return Named(path, text.status());
  if (const absl::Status status = loader.Restore(*text); !status.ok())
    return Named(path, {status.code(), absl::StrCat(status.message(), "; a file that is not there yet begins anew")});
  saved.found = true;
  saved.cursor = CursorOf(loader);
  saved.digest = DigestIn(nlohmann::json::parse(*text));
  return saved;
}

absl::StatusOr<std::unique_ptr<EpochDigest>> BeginDigest(const SavedState& saved) {
  auto digest = std::make_unique<EpochDigest>();
  if (saved.cursor.position == 0) return digest;
  if (saved.digest.empty())
    return absl::FailedPreconditionError(absl::StrCat(
        "--state ", saved.path, ": it stands at position ", saved.cursor.position, " of epoch ", saved.cursor.epoch,
        " and has no digest of what lies before, which a run that takes no digest does not make; a digest needs its "
        "epoch from the start: leave --state out, or name another file"));
  if (const absl::Status status = digest->Resume(saved.digest); !status.ok()) return Named(saved.path, status);
  if (digest->samples() != saved.cursor.position)
    return absl::InvalidArgumentError(absl::StrCat("--state ", saved.path, ": its digest is of ", digest->samples(),
                                                   " samples, and it stands at position ", saved.cursor.position));
  return digest;
}

absl::Status SaveTo(const std::string& path, const Loader& loader, const EpochDigest* digest) {
  if (path.empty()) return absl::OkStatus();
  auto state = nlohmann::ordered_json::parse(loader.State());
  const uint64_t position = state["position"].get<uint64_t>();
  if (digest != nullptr && position > 0 && digest->samples() == position) state[kDigest] = digest->Save();
  const absl::Status status = ReplaceFile(path, state.dump() + "\n");
  return status.ok() ? status : Named(path, status);
}

absl::Status Both(const absl::Status& first, const absl::Status& second) {
  if (first.ok()) return second;
  return second.ok() ? first : absl::Status(first.code(), absl::StrCat(first.message(), "; ", second.message()));
}

Cursor CursorOf(const Loader& loader) {
  const auto state = nlohmann::json::parse(loader.State());
  return {state["epoch"].get<uint64_t>(), state["position"].get<uint64_t>()};
}

std::string PlaceOf(const Loader& loader) {
  const Cursor cursor = CursorOf(loader);
  return absl::StrCat("position ", cursor.position, " of ", SamplesOf(loader), " of epoch ", cursor.epoch);
}

uint64_t BatchesLeft(const Loader& loader, uint64_t position) {
  const LoaderOptions& options = loader.options();
  return BatchPlan({.samples = SamplesOf(loader),
                    .batch_size = static_cast<uint64_t>(options.batch_size),
                    .rank = static_cast<uint64_t>(options.rank),
                    .world_size = static_cast<uint64_t>(options.world_size),
                    .last_batch = options.last_batch})
      .BatchesFrom(position);
}

}  // namespace stoker
