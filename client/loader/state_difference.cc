#include "client/loader/state_difference.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/loader/pipeline_difference.h"
#include "common/config/text.h"
#include "common/config/yaml_proto.h"
#include "common/pipeline/pipeline.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr char kText[] = "pipeline_text", kOps[] = "pipeline_ops";
constexpr size_t kMaxPipelineBytes = 2048;
constexpr size_t kFingerprintDigits = 16;  // They tell datasets apart.

std::string TextAt(const Json& state, const char* key) {
  return state.contains(key) && state[key].is_string() ? state[key].get<std::string>() : "";
}

std::string Dump(const Json& value) { return Shown(value.dump(-1, ' ', false, Json::error_handler_t::replace)); }

// "dataset 'photos' with 200 samples (fingerprint 3f2a…)".
std::string Dataset(const std::string& name, const std::string& samples, const std::string& fingerprint) {
  return absl::StrCat("dataset '", Shown(name), "' with ", samples, " samples (fingerprint ",
                      Shown(fingerprint.substr(0, kFingerprintDigits)), "…)");
}

std::string DatasetDifference(const Json& state, const JobIdentity& job) {
  const std::string name = TextAt(state, "dataset");
  const std::string samples = state.contains("samples") ? Dump(state["samples"]) : "?";
  return absl::StrCat(
      "it is of ", Dataset(name, samples, TextAt(state, "fingerprint")), ", and this loader reads ",
      Dataset(job.dataset, absl::StrCat(job.identity.samples()), absl::BytesToHexString(job.identity.fingerprint())),
      name == job.dataset ? ", which has changed since; bring it back"
                          : absl::StrCat("; give the loader '", Shown(name), "'"));
}

// How the pipeline that `state` describes differs from the job's, in one place.
std::optional<PipelineDifference> DifferenceByText(const Json& state, const JobIdentity& job) {
  const std::string text = TextAt(state, kText);
  v1::Pipeline saved;
  if (text.empty() || text.size() > kMaxPipelineBytes || !ParseYaml(text, kText, saved).ok() ||
      !ValidatePipeline(saved).ok())
    return std::nullopt;
  return FindDifference(saved, job.pipeline);
}

std::optional<PipelineDifference> DifferenceByOps(const Json& state, const JobIdentity& job) {
  const auto is_text = [](const Json& element) { return element.is_string(); };
  if (!state.contains(kOps) || !state[kOps].is_array() || !std::all_of(state[kOps].begin(), state[kOps].end(), is_text))
    return std::nullopt;
  const auto saved = state[kOps].get<std::vector<std::string>>(), mine = OpNames(job.pipeline);
  for (size_t i = 0; i < std::max(saved.size(), mine.size()); ++i) {
    const std::string one = i < saved.size() ? Shown(saved[i]) : "", other = i < mine.size() ? mine[i] : "";
    if (one != other) return PipelineDifference{absl::StrCat("op ", i + 1), one, other};
  }
  return std::nullopt;
}

std::string PipelineSentence(const Json& state, const JobIdentity& job) {
  auto found = DifferenceByText(state, job);
  if (!found.has_value()) found = DifferenceByOps(state, job);
  if (!found.has_value()) return "its pipeline is another one than this loader's";
  const auto& [place, one, other] = *found;
  if (one.empty()) return absl::StrCat("its pipeline ends before ", place, ", where this loader's has ", other);
  if (other.empty()) return absl::StrCat("its pipeline has ", one, " as ", place, ", and this loader's ends before it");
  return absl::StrCat("its pipeline has ", one, " as ", place, ", and this loader's has ", other);
}

// "full", or "block (64 samples in a block, 2 blocks in a window)".
std::string Shuffle(const Json& shuffle) {
  if (!shuffle.is_object()) return Dump(shuffle);
  std::string mode = TextAt(shuffle, "mode");
  const std::string word = absl::AsciiStrToLower(absl::StripPrefix(mode, "SHUFFLE_MODE_"));
  if (word != "block" || !shuffle.contains("block_samples") || !shuffle.contains("window_blocks"))
    return absl::StrCat("'", Shown(word), "'");
  return absl::StrCat("'block' with block_samples ", Dump(shuffle["block_samples"]), " and window_blocks ",
                      Dump(shuffle["window_blocks"]));
}

std::string Both(const std::string& what, const std::string& saved, const std::string& mine) {
  return absl::StrCat("its ", what, " is ", saved, ", and this loader's is ", mine);
}

}  // namespace

void AddPipelineWords(const v1::Pipeline& pipeline, nlohmann::ordered_json& state) {
  const std::string text = ToYaml(pipeline);
  if (text.size() <= kMaxPipelineBytes) {
    state[kText] = text;
    return;
  }
  const nlohmann::ordered_json names = OpNames(pipeline);
  if (names.dump().size() <= kMaxPipelineBytes) state[kOps] = names;
}

std::string StateDifference(const std::string& key, const Json& state, const Json& value, const JobIdentity& job) {
  if (key == "fingerprint" || key == "samples") return DatasetDifference(state, job) + ", or begin without the state";
  if (key == "content")
    return "the bytes of its dataset's files were others, though names, sizes and labels are the same; bring them "
           "back, or "
           "begin without the state";
  if (key == "pipeline")
    return PipelineSentence(state, job) + "; give the loader the state's pipeline, or begin without the state";
  if (key == "shuffle")
    return Both(key, Shuffle(state[key]), Shuffle(value)) +
           ", so a position means another sample; give the loader the state's, or begin without the state";
  if (key == "pixel_version" || key == "pixel_check")
    return Both(key == "pixel_version" ? "pixel version" : "self-check of pixels", Dump(state[key]), Dump(value)) +
           ", so the servers now make other pixels; run the stokerd that it was saved with, or accept the other pixels "
           "(accept_other_pixels)";
  return Both(key, Dump(state[key]), Dump(value)) +
         ", so a position means another sample; give the loader the state's, or begin without the state";
}

}  // namespace stoker
