#include "client/fleet/client.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/fleet/ask_all.h"
#include "client/fleet/check_answer.h"
#include "client/receive/name_resolver.h"
#include "client/receive/resolve.h"
#include "client/receive/transport.h"
#include "common/status_macros.h"
#include "common/time/steady_time.h"

namespace stoker {
namespace {

// How long servers are waited for that may still come, where nobody said it.
constexpr absl::Duration kUsualPatience = absl::Seconds(30);

// How long other servers are waited for after the first one answered, where their answers are compared.
constexpr absl::Duration kGrace = absl::Milliseconds(500);

// The same where all are asked how they fare, and how long the first one is waited for.
constexpr absl::Duration kStatusGrace = absl::Seconds(2), kStatusPatience = absl::Seconds(10);

// How long names are waited for that are still being looked up where other ones have an address.
constexpr absl::Duration kFirstNamePatience = absl::Seconds(2);

// What the servers' names stand for now.
struct Found {
  std::set<std::string> addresses;
  std::vector<std::string> missing;  // The names without an address, each with the reason.
  bool complete = true;              // All names could be looked up.
  bool may_come = false;             // One that is missing may get an address by itself.
};

Found FindKnown(const NameResolver& resolver, const std::vector<std::string>& servers) {
  Found found;
  const auto all = resolver.Latest(servers);
  for (size_t i = 0; i < servers.size(); ++i) {
    const auto& addresses = all[i];
    if (addresses.ok()) found.addresses.insert(addresses->begin(), addresses->end());
    if (addresses.ok() && !addresses->empty()) continue;
    found.complete = found.complete && addresses.ok();
    found.may_come = found.may_come || !absl::IsNotFound(addresses.status());
    found.missing.push_back(
        absl::StrCat(servers[i], ": ", addresses.ok() ? "it lists no server yet" : addresses.status().message()));
  }
  return found;
}

// Looks the names up. Waits for all of them until `until` of SteadyNow(), but not for long where some have an address.
Found Find(NameResolver& resolver, const std::vector<std::string>& servers, absl::Time until) {
  resolver.Begin(servers);
  resolver.Await(servers, std::min(until - SteadyNow(), kFirstNamePatience));
  Found found = FindKnown(resolver, servers);
  if (!found.addresses.empty()) return found;
  resolver.Await(servers, until - SteadyNow());
  return FindKnown(resolver, servers);
}

// Whether servers that refuse may come up all the same.
bool IsPatient(const Client::Options& options, const Found& found) {
  return options.connect_timeout.has_value() || found.may_come;
}

// Waits for at least one address, until there is one or it is time to give up.
Found AwaitAddresses(NameResolver& resolver, const Client::Options& options, absl::Time deadline) {
  while (true) {
    Found found = Find(resolver, options.servers, deadline);
    if (!found.addresses.empty() || !IsPatient(options, found) || SteadyNow() >= deadline) return found;
    absl::SleepFor(absl::Milliseconds(200));
  }
}

// The error where no server answered in `patience`, or at once where that was not waited for.
absl::Status NoneAnswered(const std::vector<std::string>& reasons, absl::Duration patience, bool waited) {
  const std::string all = absl::StrJoin(reasons, "; ");
  if (waited)
    return absl::UnavailableError(
        absl::StrCat("no server answered within ", absl::FormatDuration(patience), " (", all, ")"));
  return absl::UnavailableError(absl::StrCat(
      "no server can be reached (", all,
      "). Check the addresses; where servers may start later, connect_timeout says for how many seconds to wait"));
}

// What the servers answer to `ask`, one of them with success; else the error is a server's refusal, or Unavailable.
// Once one has, the others are waited for a `grace`.
template <typename Response>
absl::StatusOr<std::vector<Answer<Response>>> Answers(NameResolver& resolver, const Client& client,
                                                      typename AskAll<Response>::Ask ask, absl::Duration grace) {
  const Client::Options& options = client.options();
  const absl::Duration patience = options.connect_timeout.value_or(kUsualPatience);
  const absl::Time deadline = SteadyNow() + patience;
  const Found found = AwaitAddresses(resolver, options, deadline);
  const bool patient = IsPatient(options, found);
  AskAll<Response> all(std::move(ask), client.transport().get(), deadline, grace, patient);
  auto answers = all.Run({found.addresses.begin(), found.addresses.end()});
  std::vector<std::string> reasons = found.missing;
  absl::Status refusal;  // It says more than the silence of other servers.
  for (const auto& answer : answers) {
    if (answer.response.ok()) return answers;
    const absl::Status& status = answer.response.status();
    reasons.push_back(absl::StrCat(answer.address, ": ", status.message()));
    if (refusal.ok() && !absl::IsUnavailable(status)) refusal = absl::Status(status.code(), reasons.back());
  }
  if (!refusal.ok()) return refusal;
  const bool waited = SteadyNow() >= deadline || (patient && !all.gave_up());
  return NoneAnswered(reasons, patience, waited);
}

// What the first server answers to `ask`.
template <typename Response>
absl::StatusOr<Response> FirstAnswer(NameResolver& resolver, const Client& client, typename AskAll<Response>::Ask ask) {
  STOKER_ASSIGN_OR_RETURN(const auto answers,
                          Answers<Response>(resolver, client, std::move(ask), absl::ZeroDuration()));
  return std::find_if(answers.begin(), answers.end(), [](const auto& answer) { return answer.response.ok(); })
      ->response;
}

// The name in the servers' certificates, where it is not the host that each is reached by.
std::string TlsName(const Client::Options& options) {
  if (!options.tls_server_name.empty()) return options.tls_server_name;
  for (const std::string& server : options.servers)
    if (const auto name = ParseServerName(server); name->all_addresses) return name->host;
  return "";
}

// `answer`, or the error where it is not one that a server can give to `request`.
template <typename Request, typename Response>
absl::StatusOr<Response> Checked(const Request& request, absl::StatusOr<Response> answer) {
  if (answer.ok()) STOKER_RETURN_IF_ERROR(CheckAnswer(request, *answer));
  return answer;
}

// Where a token would be sent to by these options alone; servers that come from a list are looked at when it is sent.
absl::Status CheckTokenIsSafe(const Client::Options& options) {
  if (options.token_file.empty() || !options.tls_ca_file.empty()) return absl::OkStatus();
  for (const std::string& server : options.servers) {
    const auto name = ParseServerName(server);
    if (name->path.empty())
      return absl::InvalidArgumentError(absl::StrCat(
          "token_file: the token would be sent to ", server,
          " in plaintext, where others may read it; connect by TLS (tls_ca_file, --tls-ca) or a Unix socket"));
  }
  return absl::OkStatus();
}

std::string Short(const std::string& bytes) { return absl::BytesToHexString(bytes).substr(0, 16); }

}  // namespace

bool ContentDiffers(const v1::Identity& a, const v1::Identity& b) {
  return !a.content().empty() && !b.content().empty() && a.content() != b.content();
}

std::string Difference(const v1::Identity& a, const v1::Identity& b) {
  if (a.fingerprint() != b.fingerprint())
    return absl::StrCat("its copy of the dataset differs: fingerprint ", Short(b.fingerprint()), "…, ", b.samples(),
                        " samples, instead of ", Short(a.fingerprint()), "…, ", a.samples());
  if (ContentDiffers(a, b))
    return absl::StrCat("its copy of the dataset has other bytes: content ", Short(b.content()), "… instead of ",
                        Short(a.content()), "…; `stokerd check --content --against` names the samples");
  if (a.pixel_version() != b.pixel_version())
    return absl::StrCat("its pixel version is ", b.pixel_version(), " instead of ", a.pixel_version(),
                        ": run the same release of stokerd everywhere");
  if (a.pixel_check() != b.pixel_check())
    return "its self-check gives other pixels: another build of an image library is installed there";
  return "";
}

absl::StatusOr<std::shared_ptr<Client>> Client::Create(Options options) {
  if (options.servers.empty()) return absl::InvalidArgumentError("servers: none is given; write host:port");
  for (const std::string& server : options.servers) STOKER_RETURN_IF_ERROR(ParseServerName(server).status());
  if (options.connections < 1 || options.connections > kMostConnections)
    return absl::InvalidArgumentError(
        absl::StrCat("connections: ", options.connections, " to each server; 1 to ", kMostConnections, " can be"));
  STOKER_RETURN_IF_ERROR(CheckTokenIsSafe(options));
  STOKER_ASSIGN_OR_RETURN(auto security, Security::Create({.ca_file = options.tls_ca_file,
                                                           .certificate_file = options.tls_cert_file,
                                                           .key_file = options.tls_key_file,
                                                           .token_file = options.token_file,
                                                           .server_name = TlsName(options)}));
  auto transport = std::make_shared<Transport>(std::move(security));
  return std::shared_ptr<Client>(new Client(std::move(options), std::move(transport)));
}

Client::Client(Options options, std::shared_ptr<Transport> transport)
    : options_(std::move(options)), transport_(std::move(transport)), resolver_(std::make_unique<NameResolver>()) {}

Client::~Client() = default;

Client::Known Client::Addresses() const {
  const Found found = FindKnown(*resolver_, options_.servers);
  return {{found.addresses.begin(), found.addresses.end()}, found.complete};
}

void Client::LookUpAgain() { resolver_->Begin(options_.servers); }

uint64_t Client::LookUps() const { return resolver_->finished(); }

std::vector<std::string> Client::Obstacles() const {
  constexpr size_t kMost = 4;
  constexpr absl::Duration kPatience = absl::Milliseconds(500);
  const Found found = Find(*resolver_, options_.servers, SteadyNow() + kUsualPatience);
  std::vector<std::string> obstacles = found.missing;
  size_t looked_at = 0;
  for (const std::string& address : found.addresses) {
    if (++looked_at > kMost) break;
    const Obstacle obstacle = transport_->FindObstacle(address, kPatience);
    if (!obstacle.reason.empty()) obstacles.push_back(absl::StrCat(address, ": ", obstacle.reason));
  }
  return obstacles;
}

absl::StatusOr<v1::ListDatasetsResponse> Client::ListDatasets() {
  return FirstAnswer<v1::ListDatasetsResponse>(
      *resolver_, *this, [this](const std::string& address, absl::Time deadline, Transport::Call& call) {
        return transport_->ListDatasets(address, deadline, call);
      });
}

absl::StatusOr<std::vector<Client::ServerStatus>> Client::Status() {
  const absl::Time deadline = SteadyNow() + options_.connect_timeout.value_or(kStatusPatience);
  const Found found = AwaitAddresses(*resolver_, options_, deadline);
  if (found.addresses.empty())
    return absl::NotFoundError(absl::StrCat("no server is known (", absl::StrJoin(found.missing, "; "), ")"));
  const auto ask = [this](const std::string& address, absl::Time until, Transport::Call& call) {
    return transport_->Status(address, until, call);
  };
  AskAll<v1::StatusResponse> all(ask, transport_.get(), deadline, kStatusGrace, /*patient=*/false);
  std::vector<ServerStatus> servers;
  for (auto& answer : all.Run({found.addresses.begin(), found.addresses.end()}))
    servers.push_back({answer.address, std::move(answer.response)});
  return servers;
}

absl::StatusOr<v1::ListClassesResponse> Client::ListClasses(const v1::ListClassesRequest& request) {
  return FirstAnswer<v1::ListClassesResponse>(
      *resolver_, *this, [&](const std::string& address, absl::Time deadline, Transport::Call& call) {
        return Checked(request, transport_->ListClasses(address, request, deadline, call));
      });
}

absl::StatusOr<v1::ListSamplesResponse> Client::ListSamples(const v1::ListSamplesRequest& request) {
  return FirstAnswer<v1::ListSamplesResponse>(
      *resolver_, *this, [&](const std::string& address, absl::Time deadline, Transport::Call& call) {
        return Checked(request, transport_->ListSamples(address, request, deadline, call));
      });
}

absl::StatusOr<std::string> Client::OnlyDataset() {
  STOKER_ASSIGN_OR_RETURN(const auto list, ListDatasets());
  if (list.datasets_size() == 1) return list.datasets(0).name();
  const auto name = [](std::string* out, const v1::DatasetInfo& info) { absl::StrAppend(out, info.name()); };
  return absl::InvalidArgumentError(absl::StrCat("dataset: none is given, and the servers have ", list.datasets_size(),
                                                 ": ", absl::StrJoin(list.datasets(), ", ", name)));
}

absl::StatusOr<v1::DescribeResponse> Client::Describe(const v1::DescribeRequest& request) {
  const auto ask = [&](const std::string& address, absl::Time deadline, Transport::Call& call) {
    return Checked(request, transport_->Describe(address, request, deadline, call));
  };
  STOKER_ASSIGN_OR_RETURN(const auto answers, Answers<v1::DescribeResponse>(*resolver_, *this, ask, kGrace));
  const Answer<v1::DescribeResponse>* first = nullptr;
  const Answer<v1::DescribeResponse>* knowing = nullptr;  // The first that knows the content.
  for (const auto& answer : answers) {
    if (!answer.response.ok()) continue;
    if (first == nullptr) first = &answer;
    if (knowing == nullptr && !answer.response->identity().content().empty()) knowing = &answer;
    if (knowing != nullptr && ContentDiffers(knowing->response->identity(), answer.response->identity()))
      return absl::FailedPreconditionError(
          absl::StrCat("servers disagree about dataset '", request.dataset(), "': ", answer.address, " beside ",
                       knowing->address, ": ", Difference(knowing->response->identity(), answer.response->identity())));
    if (auto difference = Difference(first->response->identity(), answer.response->identity()); !difference.empty())
      return absl::FailedPreconditionError(absl::StrCat("servers disagree about dataset '", request.dataset(), "': ",
                                                        answer.address, " beside ", first->address, ": ", difference));
  }
  v1::DescribeResponse description = *first->response;
  if (knowing != nullptr) description.mutable_identity()->set_content(knowing->response->identity().content());
  return description;
}

}  // namespace stoker
