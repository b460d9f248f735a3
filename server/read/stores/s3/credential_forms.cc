#include "server/read/stores/s3/credential_forms.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"
#include "server/read/stores/s3/list_answer.h"

namespace stoker {
namespace {

absl::StatusOr<S3Credentials> Checked(S3Credentials credentials, const std::string& expires) {
  const auto is_header = [](const std::string& value) {
    for (const char c : value)
      if (!absl::ascii_isgraph(static_cast<unsigned char>(c))) return false;
    return true;
  };
  std::string error;
  if (credentials.key_id.empty() || credentials.secret.empty() || !is_header(credentials.key_id) ||
      !is_header(credentials.token))
    return absl::UnavailableError("it answered without credentials");
  if (!expires.empty() && !absl::ParseTime(absl::RFC3339_full, expires, &credentials.expires, &error))
    return absl::UnavailableError("it does not say when its credentials expire");
  return credentials;
}

}  // namespace

std::map<std::string, std::string> ProfileOf(absl::string_view file, absl::string_view profile) {
  std::map<std::string, std::string> settings;
  bool within = false;
  for (absl::string_view line : absl::StrSplit(file, '\n')) {
    const bool nested = !line.empty() && absl::ascii_isspace(static_cast<unsigned char>(line[0]));
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      absl::string_view name = line.substr(1, line.find(']') - 1);
      absl::ConsumePrefix(&name, "profile ");
      within = absl::StripAsciiWhitespace(name) == profile;
      continue;
    }
    if (!within || nested) continue;
    const std::pair<absl::string_view, absl::string_view> setting = absl::StrSplit(line, absl::MaxSplits('=', 1));
    settings[absl::AsciiStrToLower(absl::StripAsciiWhitespace(setting.first))] =
        std::string(absl::StripAsciiWhitespace(setting.second));
  }
  return settings;
}

absl::StatusOr<S3Credentials> ParseMetadata(const std::string& json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return absl::UnavailableError("it answered no JSON object");
  const auto text = [&](const char* key) {
    const auto found = parsed.find(key);
    return found != parsed.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  return Checked({text("AccessKeyId"), text("SecretAccessKey"), text("Token")}, text("Expiration"));
}

absl::StatusOr<S3Credentials> ParseAssumedRole(const std::string& xml) {
  const auto text = [&](absl::string_view name) {
    size_t at = 0;
    absl::string_view inside;
    return NextElement(xml, name, at, inside) ? WithoutEntities(absl::StripAsciiWhitespace(inside)) : std::string();
  };
  return Checked({text("AccessKeyId"), text("SecretAccessKey"), text("SessionToken")}, text("Expiration"));
}

}  // namespace stoker
