#include "server/request/access.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/config/watched_file.h"
#include "common/status_macros.h"
#include "server/request/jwt.h"
#include "server/request/tokens.h"

namespace stoker {

// What decides. Immutable.
struct Access::Policy {
  std::shared_ptr<const Rights> rights;
  std::shared_ptr<const Quotas> quotas;
  std::shared_ptr<const Tokens> tokens;  // null: none are taken
  std::vector<JwtIssuerKeys> issuers;

  bool takes_tokens() const { return tokens != nullptr || !issuers.empty(); }
};

// The files of tokens and keys, and what they held when they were good last. One thread at a time.
class Access::Sources {
 public:
  explicit Sources(Options options) : options_(std::move(options)) {
    const v1::AccessConfig& config = options_.config;
    if (!config.token_file().empty()) token_file_ = std::make_unique<Source>("access.token_file", config.token_file());
    for (int i = 0; i < config.jwt_size(); ++i)
      key_files_.push_back(
          std::make_unique<Source>(absl::StrCat("access.jwt[", i, "].keys_file"), config.jwt(i).keys_file()));
    keys_.resize(key_files_.size());
  }

  // Reads what changed. Sets `changed` where that is good and another than before. The first error of any file, and all
  // others are read nevertheless.
  absl::Status Refresh(bool& changed) {
    absl::Status problem;
    const auto parse_tokens = [this](const std::string& text) -> absl::Status {
      STOKER_ASSIGN_OR_RETURN(auto tokens, Tokens::Parse(text));
      tokens_ = std::make_shared<const Tokens>(std::move(tokens));
      return absl::OkStatus();
    };
    if (token_file_ != nullptr) problem.Update(token_file_->Refresh(parse_tokens, changed));
    for (size_t i = 0; i < key_files_.size(); ++i) {
      const auto parse_keys = [this, i](const std::string& text) -> absl::Status {
        STOKER_ASSIGN_OR_RETURN(auto keys, JwtKeys::Parse(text));
        keys_[i] = std::make_shared<const JwtKeys>(std::move(keys));
        return absl::OkStatus();
      };
      problem.Update(key_files_[i]->Refresh(parse_keys, changed));
    }
    return problem;
  }

  std::shared_ptr<const Policy> MakePolicy(std::shared_ptr<const Quotas> quotas) const {
    auto policy = std::make_shared<Policy>();
    policy->rights = std::make_shared<const Rights>(options_.allowed);
    policy->quotas = std::move(quotas);
    policy->tokens = tokens_;
    for (size_t i = 0; i < keys_.size(); ++i)
      policy->issuers.push_back({options_.config.jwt(static_cast<int>(i)), keys_[i]});
    return policy;
  }

 private:
  // One file, and what was wrong with it when it changed last.
  class Source {
   public:
    Source(std::string key, const std::string& path) : key_(std::move(key)), file_(path) {}

    template <typename Parse>
    absl::Status Refresh(const Parse& parse, bool& changed) {
      const auto refreshed = file_.Refresh();
      if (!refreshed.ok())
        return absl::InvalidArgumentError(absl::StrCat(key_, ": cannot be read: ", refreshed.status().message()));
      if (!*refreshed && read_) return problem_;
      read_ = true;
      problem_ = parse(file_.content());
      changed = changed || problem_.ok();
      if (!problem_.ok())
        problem_ = absl::InvalidArgumentError(absl::StrCat(key_, ": ", file_.path(), ": ", problem_.message()));
      return problem_;
    }

   private:
    const std::string key_;
    WatchedFile file_;
    bool read_ = false;
    absl::Status problem_;
  };

  const Options options_;
  std::unique_ptr<Source> token_file_;
  std::vector<std::unique_ptr<Source>> key_files_;
  std::shared_ptr<const Tokens> tokens_;
  std::vector<std::shared_ptr<const JwtKeys>> keys_;
};

struct Access::Admission::Counts {
  absl::Mutex mutex;
  std::map<std::string, uint32_t> streams ABSL_GUARDED_BY(mutex);  // open ones, by identity
};

namespace {

absl::Status Validate(const Access::Options& options) {
  std::set<std::string> issuers;
  for (int i = 0; i < options.config.jwt_size(); ++i) {
    const v1::JwtIssuer& jwt = options.config.jwt(i);
    const auto bad = [i](const char* key, const char* what) {
      return absl::InvalidArgumentError(absl::StrCat("access.jwt[", i, "].", key, ": ", what));
    };
    if (jwt.issuer().empty()) return bad("issuer", "must be given");
    if (jwt.audience().empty()) return bad("audience", "must be given: else tokens for other services are taken too");
    if (jwt.keys_file().empty()) return bad("keys_file", "must be given");
    if (!issuers.insert(jwt.issuer()).second) return bad("issuer", "stands in the list already");
  }
  for (const auto& [dataset, identities] : options.allowed)
    for (const std::string& identity : identities)
      if (const auto valid = ValidateIdentity(identity); !valid.ok())
        return absl::InvalidArgumentError(absl::StrCat("dataset ", dataset, ": allow: an identity ", valid.message()));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Access>> Access::Create(const Options& options, Clock now) {
  std::unique_ptr<Access> access(new Access(std::move(now)));
  STOKER_RETURN_IF_ERROR(access->Apply(options));
  return access;
}

Access::Access(Clock now) : now_(std::move(now)), counts_(std::make_shared<Admission::Counts>()) {}

Access::~Access() = default;

absl::Status Access::Apply(const Options& options, const std::function<absl::Status()>& along) {
  STOKER_RETURN_IF_ERROR(Validate(options));
  STOKER_ASSIGN_OR_RETURN(auto quotas, Quotas::Parse(options.config));
  auto sources = std::make_unique<Sources>(options);
  bool changed = false;
  STOKER_RETURN_IF_ERROR(sources->Refresh(changed));
  STOKER_RETURN_IF_ERROR(along());
  absl::MutexLock refreshing(&refreshing_);
  sources_ = std::move(sources);
  absl::MutexLock lock(&mutex_);
  policy_ = sources_->MakePolicy(std::make_shared<const Quotas>(std::move(quotas)));
  return absl::OkStatus();
}

absl::Status Access::Refresh() {
  absl::MutexLock refreshing(&refreshing_);
  bool changed = false;
  const absl::Status problem = sources_->Refresh(changed);
  if (!changed) return problem;
  absl::MutexLock lock(&mutex_);
  policy_ = sources_->MakePolicy(policy_->quotas);
  return problem;
}

std::shared_ptr<const Access::Policy> Access::policy() const {
  absl::MutexLock lock(&mutex_);
  return policy_;
}

std::shared_ptr<const Rights> Access::rights() const { return policy()->rights; }

absl::StatusOr<ClientIdentity> Access::Identify(const Evidence& evidence) const {
  using Proof = ClientIdentity::Proof;
  if (evidence.has_certificate) {
    STOKER_ASSIGN_OR_RETURN(std::string name, CertificateIdentity(evidence));
    return ClientIdentity{std::move(name), Proof::kCertificate};
  }
  const auto policy = this->policy();
  if (!policy->takes_tokens()) return ClientIdentity();
  STOKER_ASSIGN_OR_RETURN(const auto token, BearerToken(evidence));
  if (!token.has_value())
    return absl::UnauthenticatedError(
        "this server has to know who asks, and the client did not say: give it a token (--token-file, token_file) or a "
        "certificate (--tls-cert and --tls-key, tls_cert_file and tls_key_file)");
  if (policy->tokens != nullptr)
    if (auto name = policy->tokens->Find(*token)) return ClientIdentity{*std::move(name), Proof::kToken};
  if (policy->issuers.empty() || !LooksLikeJwt(*token))
    return absl::UnauthenticatedError("this server does not know the client's token; was it replaced or taken back?");
  STOKER_ASSIGN_OR_RETURN(std::string name, VerifyJwt(*token, policy->issuers, now_()));
  return ClientIdentity{std::move(name), Proof::kJwt};
}

absl::StatusOr<std::unique_ptr<Access::Admission>> Access::Admit(const ClientIdentity& client) {
  const Quota quota = policy()->quotas->Of(client.name);
  {
    absl::MutexLock lock(&counts_->mutex);
    const auto found = counts_->streams.find(client.name);
    const uint32_t open = found == counts_->streams.end() ? 0 : found->second;
    if (quota.streams != 0 && open >= quota.streams)
      return absl::ResourceExhaustedError(
          absl::StrCat("this client has ", open, " streams open here, of ", quota.streams,
                       " that it may have; end other jobs, or ask the operator for more (access.quotas)"));
    ++counts_->streams[client.name];
  }
  return std::unique_ptr<Admission>(new Admission(counts_, client.name, quota));
}

Access::Admission::Admission(std::shared_ptr<Counts> counts, std::string identity, Quota quota)
    : counts_(std::move(counts)), identity_(std::move(identity)), quota_(quota) {}

Access::Admission::~Admission() {
  absl::MutexLock lock(&counts_->mutex);
  const auto found = counts_->streams.find(identity_);
  if (--found->second == 0) counts_->streams.erase(found);
}

}  // namespace stoker
