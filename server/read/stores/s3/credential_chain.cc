#include "server/read/stores/s3/credential_chain.h"

#include <fcntl.h>

#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"
#include "server/read/stores/local/file.h"
#include "server/read/stores/s3/credential_forms.h"

namespace stoker {
namespace {

// New credentials are looked for when those that are there hold for so long only.
constexpr absl::Duration kEarly = absl::Minutes(5);
constexpr uint64_t kMostFileBytes = 1 << 20;

// Metadata services are on this machine or beside it. Where there is none, that must not take long to be known.
HttpLimits Short(HttpLimits limits) {
  limits.requests = 1;
  limits.tries = 3;
  limits.connect = absl::Seconds(1);
  limits.silence = absl::Seconds(5);
  limits.total = absl::Seconds(15);
  return limits;
}

absl::StatusOr<std::string> TextOf(const std::string& path) {
  auto file = OpenAt(AT_FDCWD, path);
  if (!file.ok()) return NamedError(path, file.status());
  std::string text(kMostFileBytes, 0);
  const auto bytes = ReadUpTo(file->number(), text.size(), text.data());
  if (!bytes.ok()) return NamedError(path, bytes.status());
  text.resize(*bytes);
  return text;
}

std::string Value(const std::map<std::string, std::string>& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? "" : found->second;
}

std::string ProfileName(const std::string& profile, const CredentialChain::Environment& environment) {
  if (!profile.empty()) return profile;
  const std::string name = environment("AWS_PROFILE");
  return name.empty() ? "default" : name;
}

// Returns the settings of a profile in the file that `variable` names, or in ~/.aws/`file`.
std::map<std::string, std::string> SettingsOf(const std::string& profile, const std::string& variable,
                                              const std::string& file,
                                              const CredentialChain::Environment& environment) {
  std::string path = environment(variable);
  if (path.empty()) path = absl::StrCat(environment("HOME"), "/.aws/", file);
  const auto text = TextOf(path);
  return text.ok() ? ProfileOf(*text, profile) : std::map<std::string, std::string>();
}

}  // namespace

CredentialChain::CredentialChain(Options options) : options_(std::move(options)), client_(Short(options_.limits)) {}

absl::StatusOr<S3Credentials> CredentialChain::Get() {
  {
    absl::MutexLock lock(&mutex_);
    if (refreshing_ && !Hold(absl::Seconds(30))) mutex_.Await(absl::Condition(this, &CredentialChain::is_idle));
    if (refreshing_ || Hold(kEarly)) return latest_;
    refreshing_ = true;
  }
  auto found = Find();
  absl::MutexLock lock(&mutex_);
  refreshing_ = false;
  if (found.ok()) latest_ = *found;
  if (!found.ok() && Hold(absl::ZeroDuration())) return latest_;
  return found;
}

bool CredentialChain::Hold(absl::Duration long_enough) const {
  return !latest_.key_id.empty() && absl::Now() + long_enough < latest_.expires;
}

S3Credentials CredentialChain::Latest() const {
  absl::MutexLock lock(&mutex_);
  return latest_;
}

absl::StatusOr<S3Credentials> CredentialChain::Find() {
  using Place = Found (CredentialChain::*)();
  STOKER_ASSIGN_OR_RETURN(auto found, FromEnvironment());
  if (found.has_value()) return *found;
  STOKER_ASSIGN_OR_RETURN(found, FromProfile());
  if (found.has_value()) return *found;
  for (const Place place :
       {&CredentialChain::FromWebIdentity, &CredentialChain::FromContainer, &CredentialChain::FromInstance}) {
    STOKER_ASSIGN_OR_RETURN(found, (this->*place)());
    if (found.has_value()) return *found;
  }
  return absl::PermissionDeniedError(
      "there are no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write a profile to "
      "~/.aws/credentials, or say `s3: {anonymous: true}` for a public bucket");
}

CredentialChain::Found CredentialChain::FromEnvironment() const {
  const auto& environment = options_.environment;
  const S3Credentials credentials = {environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"),
                                     environment("AWS_SESSION_TOKEN")};
  // A profile that the configuration names counts more than the environment.
  if (!options_.profile.empty() || credentials.key_id.empty()) return std::nullopt;
  if (credentials.secret.empty())
    return absl::PermissionDeniedError("AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not");
  return credentials;
}

CredentialChain::Found CredentialChain::FromProfile() const {
  const std::string profile = ProfileName(options_.profile, options_.environment);
  for (const auto& [variable, file] :
       {std::pair("AWS_SHARED_CREDENTIALS_FILE", "credentials"), std::pair("AWS_CONFIG_FILE", "config")}) {
    const auto settings = SettingsOf(profile, variable, file, options_.environment);
    S3Credentials credentials = {Value(settings, "aws_access_key_id"), Value(settings, "aws_secret_access_key"),
                                 Value(settings, "aws_session_token")};
    // Somebody else writes a session's credentials anew before they expire, and the file does not say when.
    if (!credentials.token.empty()) credentials.expires = absl::Now() + absl::Minutes(15);
    if (!credentials.key_id.empty() && !credentials.secret.empty()) return credentials;
  }
  if (profile == "default") return std::nullopt;
  return absl::PermissionDeniedError(
      absl::StrCat("the profile '", ShortPrintableName(profile), "' has no key in the shared credentials file"));
}

CredentialChain::Found CredentialChain::FromWebIdentity() {
  const auto& environment = options_.environment;
  const std::string file = environment("AWS_WEB_IDENTITY_TOKEN_FILE"), role = environment("AWS_ROLE_ARN");
  if (file.empty() || role.empty()) return std::nullopt;
  STOKER_ASSIGN_OR_RETURN(const std::string token, TextOf(file));
  std::string session = environment("AWS_ROLE_SESSION_NAME");
  if (session.empty()) session = "stokerd";
  std::string endpoint = environment("AWS_ENDPOINT_URL_STS");
  if (endpoint.empty()) endpoint = environment("AWS_ENDPOINT_URL");
  if (endpoint.empty()) endpoint = absl::StrCat("https://sts.", options_.region, ".amazonaws.com");
  HttpRequest request = {.method = "POST", .url = endpoint + "/"};
  request.headers = {"Content-Type: application/x-www-form-urlencoded"};
  request.body =
      absl::StrCat("Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=", PercentEncoded(role, false),
                   "&RoleSessionName=", PercentEncoded(session, false),
                   "&WebIdentityToken=", PercentEncoded(std::string(absl::StripAsciiWhitespace(token)), false));
  STOKER_ASSIGN_OR_RETURN(const std::string answer, Ask(std::move(request), "the security token service"));
  auto credentials = ParseAssumedRole(answer);
  if (!credentials.ok()) return NamedError("the security token service", credentials.status());
  return *credentials;
}

CredentialChain::Found CredentialChain::FromContainer() {
  const auto& environment = options_.environment;
  const std::string relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const std::string url =
      relative.empty() ? environment("AWS_CONTAINER_CREDENTIALS_FULL_URI") : "http://169.254.170.2" + relative;
  if (url.empty()) return std::nullopt;
  std::string token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const std::string file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
    STOKER_ASSIGN_OR_RETURN(token, TextOf(file));
  }
  HttpRequest request = {.url = url, .direct = true};
  if (!token.empty())
    request.secret_headers = {absl::StrCat("Authorization: ", absl::StripAsciiWhitespace(absl::string_view(token)))};
  STOKER_ASSIGN_OR_RETURN(const std::string answer, Ask(std::move(request), "the container's metadata service"));
  auto credentials = ParseMetadata(answer);
  if (!credentials.ok()) return NamedError("the container's metadata service", credentials.status());
  return *credentials;
}

CredentialChain::Found CredentialChain::FromInstance() {
  const auto& environment = options_.environment;
  if (absl::EqualsIgnoreCase(environment("AWS_EC2_METADATA_DISABLED"), "true")) return std::nullopt;
  std::string service = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (service.empty()) service = options_.instance_metadata;
  while (absl::EndsWith(service, "/")) service.pop_back();
  HttpRequest put = {.method = "PUT", .url = service + "/latest/api/token", .direct = true};
  put.headers = {"X-aws-ec2-metadata-token-ttl-seconds: 300"};
  const auto token = Ask(std::move(put), "the instance's metadata service");
  if (!token.ok()) return std::nullopt;  // This machine is no instance of Amazon's.
  const std::string roles = service + "/latest/meta-data/iam/security-credentials/";
  const auto get = [&](const std::string& url) {
    HttpRequest request = {.url = url, .direct = true};
    request.secret_headers = {absl::StrCat("X-aws-ec2-metadata-token: ", *token)};
    return Ask(std::move(request), "the instance's metadata service");
  };
  const auto role = get(roles);
  if (absl::IsNotFound(role.status())) return std::nullopt;  // The instance has no role.
  STOKER_RETURN_IF_ERROR(role.status());
  const std::string first = role->substr(0, role->find('\n'));
  STOKER_ASSIGN_OR_RETURN(const std::string answer, get(roles + PercentEncoded(first, true)));
  auto credentials = ParseMetadata(answer);
  if (!credentials.ok()) return NamedError("the instance's metadata service", credentials.status());
  return *credentials;
}

absl::StatusOr<std::string> CredentialChain::Ask(HttpRequest request, const std::string& name) {
  request.name = name;
  request.most_body_bytes = kMostFileBytes;
  request.follows_redirects = false;
  STOKER_ASSIGN_OR_RETURN(HttpResponse answer, client_.Fetch(std::move(request)));
  return std::move(answer.body);
}

std::string CredentialChain::RegionOf(const std::string& profile, const Environment& environment) {
  return Value(SettingsOf(ProfileName(profile, environment), "AWS_CONFIG_FILE", "config", environment), "region");
}

}  // namespace stoker
