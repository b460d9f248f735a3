#include "client/loader/state.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/loader/state_difference.h"
#include "nlohmann/json.hpp"

namespace stoker {
namespace {

constexpr int kVersion = 1;

// The key of the content's hash, which a state has where the servers knew it.
constexpr char kContent[] = "content";

std::string Hex(uint64_t value) { return absl::StrFormat("%016x", value); }

// Everything but the cursor, under the names that errors use.
nlohmann::ordered_json Describe(const JobIdentity& job) {
  const auto mode = job.shuffle.mode() == v1::SHUFFLE_MODE_UNSPECIFIED ? v1::SHUFFLE_MODE_FULL : job.shuffle.mode();
  nlohmann::ordered_json shuffle = {{"mode", v1::ShuffleMode_Name(mode)},
                                    {"block_samples", job.shuffle.block_samples()},
                                    {"window_blocks", job.shuffle.window_blocks()}};
  if (mode == v1::SHUFFLE_MODE_WEIGHTED)
    shuffle["class_weights"] =
        std::map<std::string, uint64_t>(job.shuffle.class_weights().begin(), job.shuffle.class_weights().end());
  return {{"fingerprint", absl::BytesToHexString(job.identity.fingerprint())},
          {"samples", job.identity.samples()},
          {"pipeline", Hex(job.pipeline_hash)},
          {"pixel_version", job.identity.pixel_version()},
          {"pixel_check", Hex(job.identity.pixel_check())},
          {"seed", job.seed},
          {"shuffle", std::move(shuffle)}};
}

absl::Status Malformed(absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat("state: ", reason, "; it must be what State() returned"));
}

bool IsCount(const nlohmann::json& state, const char* key) {
  return state.contains(key) && state[key].is_number_unsigned();
}

}  // namespace

std::string EncodeState(const JobIdentity& job, const Cursor& cursor) {
  nlohmann::ordered_json state = {
      {"version", kVersion}, {"dataset", job.dataset}, {"epoch", cursor.epoch}, {"position", cursor.position}};
  state.update(Describe(job));
  if (!job.identity.content().empty()) state[kContent] = absl::BytesToHexString(job.identity.content());
  AddPipelineWords(job.pipeline, state);
  return state.dump();
}

absl::StatusOr<Cursor> DecodeState(const std::string& text, const JobIdentity& job, bool accept_other_pixels) {
  const auto state = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!state.is_object()) return Malformed("it is no JSON object");
  if (!IsCount(state, "version")) return Malformed("it has no version");
  if (state["version"] != kVersion)
    return absl::InvalidArgumentError(
        absl::StrCat("state: it is of version ", state["version"].dump(), ", and this build knows ", kVersion));
  const nlohmann::ordered_json described = Describe(job);
  for (const auto& [key, value] : described.items()) {
    if (!state.contains(key)) return Malformed(absl::StrCat("it has no ", key));
    const bool of_pixels = key == "pixel_version" || key == "pixel_check";
    if (state[key] != nlohmann::json(value) && !(of_pixels && accept_other_pixels))
      return absl::FailedPreconditionError(absl::StrCat("state: ", StateDifference(key, state, value, job)));
  }
  const nlohmann::json content = absl::BytesToHexString(job.identity.content());
  if (!job.identity.content().empty() && state.contains(kContent) && state[kContent] != content)
    return absl::FailedPreconditionError(absl::StrCat("state: ", StateDifference(kContent, state, content, job)));
  if (!IsCount(state, "epoch") || !IsCount(state, "position")) return Malformed("it has no epoch and position");
  const Cursor cursor = {state["epoch"].get<uint64_t>(), state["position"].get<uint64_t>()};
  if (cursor.position >= job.identity.samples())
    return Malformed(absl::StrCat("position ", cursor.position, " is past the dataset's ", job.identity.samples()));
  return cursor;
}

}  // namespace stoker
