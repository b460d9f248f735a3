#include "client/fleet/client.h"

#include <deque>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "client/receive/resolve.h"
#include "client/receive/transport.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// How long other servers are waited for after the first one answered: they are compared if they are there.
constexpr absl::Duration kGrace = absl::Milliseconds(500);

template <typename Response>
struct Answer {
  std::string address;
  absl::StatusOr<Response> response = absl::UnavailableError("no answer yet");
};

// Asks all servers at once. Returns when all have answered, or `grace` after the first that succeeded.
template <typename Response>
std::vector<Answer<Response>> AskAll(
    const std::vector<std::string>& addresses,
    const std::function<absl::StatusOr<Response>(const std::string&, Transport::Call&)>& ask,
    absl::Duration grace = kGrace) {
  struct Pending {
    absl::Mutex mutex;
    absl::CondVar changed;
    size_t answered ABSL_GUARDED_BY(mutex) = 0;
    bool succeeded ABSL_GUARDED_BY(mutex) = false;
  } pending;
  std::vector<Answer<Response>> answers(addresses.size());
  std::deque<Transport::Call> calls(addresses.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < addresses.size(); ++i) {
    answers[i].address = addresses[i];
    threads.emplace_back([&, i] {
      auto response = ask(addresses[i], calls[i]);
      absl::MutexLock lock(&pending.mutex);
      ++pending.answered;
      pending.succeeded = pending.succeeded || response.ok();
      answers[i].response = std::move(response);
      pending.changed.SignalAll();
    });
  }
  {
    absl::MutexLock lock(&pending.mutex);
    while (pending.answered < addresses.size() && !pending.succeeded) pending.changed.Wait(&pending.mutex);
    const absl::Time deadline = absl::Now() + grace;
    while (pending.answered < addresses.size() && !pending.changed.WaitWithDeadline(&pending.mutex, deadline)) {
    }
  }
  for (Transport::Call& call : calls) call.Cancel();
  for (std::thread& thread : threads) thread.join();
  return answers;
}

template <typename Response>
absl::Status NoneAnswered(const std::vector<Answer<Response>>& answers, absl::Duration timeout) {
  std::vector<std::string> reasons;
  for (const auto& answer : answers) {
    const absl::Status& status = answer.response.status();
    // A server's refusal says more than the silence of others.
    if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status) && !absl::IsCancelled(status))
      return absl::Status(status.code(), absl::StrCat(answer.address, ": ", status.message()));
    reasons.push_back(absl::StrCat(answer.address, ": ", status.message()));
  }
  return absl::UnavailableError(absl::StrCat("no server answered within ", absl::FormatDuration(timeout), " (",
                                             absl::StrJoin(reasons, "; "), "); is stokerd running there?"));
}

template <typename Response>
absl::StatusOr<Response> FirstOf(const std::vector<Answer<Response>>& answers, absl::Duration timeout) {
  for (const auto& answer : answers)
    if (answer.response.ok()) return *answer.response;
  return NoneAnswered(answers, timeout);
}

// The name in the servers' certificates, where it is not the host that each is reached by.
std::string TlsName(const Client::Options& options) {
  if (!options.tls_server_name.empty()) return options.tls_server_name;
  for (const std::string& server : options.servers)
    if (const auto name = ParseServerName(server); name->all_addresses) return name->host;
  return "";
}

std::string Short(const std::string& bytes) { return absl::BytesToHexString(bytes).substr(0, 16); }

}  // namespace

std::string Difference(const v1::Identity& a, const v1::Identity& b) {
  if (a.fingerprint() != b.fingerprint())
    return absl::StrCat("its copy of the dataset differs: fingerprint ", Short(b.fingerprint()), "…, ", b.samples(),
                        " samples, instead of ", Short(a.fingerprint()), "…, ", a.samples());
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
  if (options.tls_ca_file.empty())
    return std::shared_ptr<Client>(new Client(std::move(options), std::make_shared<Transport>()));
  std::ifstream file(options.tls_ca_file);
  const std::string roots{std::istreambuf_iterator<char>(file), {}};
  if (!file || !absl::StrContains(roots, "CERTIFICATE-----"))
    return absl::InvalidArgumentError(
        absl::StrCat("tls_ca_file: ", options.tls_ca_file, " cannot be read, or holds no certificate in PEM"));
  const std::string name = TlsName(options);
  return std::shared_ptr<Client>(new Client(std::move(options), std::make_shared<Transport>(roots, name)));
}

Client::Client(Options options, std::shared_ptr<Transport> transport)
    : options_(std::move(options)), transport_(std::move(transport)) {}

Client::~Client() = default;

std::vector<std::string> Client::Addresses(bool* complete) const {
  std::set<std::string> addresses;
  for (const std::string& server : options_.servers) {
    const auto found = Resolve(*ParseServerName(server));
    if (found.ok()) addresses.insert(found->begin(), found->end());
    if (!found.ok() && complete != nullptr) *complete = false;
  }
  return {addresses.begin(), addresses.end()};
}

absl::StatusOr<std::vector<std::string>> Client::AwaitAddresses() const {
  const absl::Time deadline = absl::Now() + options_.connect_timeout;
  while (true) {
    auto addresses = Addresses();
    if (!addresses.empty()) return addresses;
    if (absl::Now() > deadline)
      return absl::UnavailableError(absl::StrCat("servers: ", absl::StrJoin(options_.servers, ", "),
                                                 " had no address for ",
                                                 absl::FormatDuration(options_.connect_timeout)));
    absl::SleepFor(absl::Milliseconds(200));
  }
}

absl::StatusOr<v1::ListDatasetsResponse> Client::ListDatasets() {
  STOKER_ASSIGN_OR_RETURN(const auto addresses, AwaitAddresses());
  const auto answers =
      AskAll<v1::ListDatasetsResponse>(addresses, [this](const std::string& address, Transport::Call& call) {
        return transport_->ListDatasets(address, options_.connect_timeout, call);
      });
  return FirstOf(answers, options_.connect_timeout);
}

absl::StatusOr<v1::ListClassesResponse> Client::ListClasses(const v1::ListClassesRequest& request) {
  STOKER_ASSIGN_OR_RETURN(const auto addresses, AwaitAddresses());
  return FirstOf(AskAll<v1::ListClassesResponse>(
                     addresses,
                     [&](const std::string& address, Transport::Call& call) {
                       return transport_->ListClasses(address, request, options_.connect_timeout, call);
                     },
                     absl::ZeroDuration()),
                 options_.connect_timeout);
}

absl::StatusOr<v1::ListSamplesResponse> Client::ListSamples(const v1::ListSamplesRequest& request) {
  STOKER_ASSIGN_OR_RETURN(const auto addresses, AwaitAddresses());
  return FirstOf(AskAll<v1::ListSamplesResponse>(
                     addresses,
                     [&](const std::string& address, Transport::Call& call) {
                       return transport_->ListSamples(address, request, options_.connect_timeout, call);
                     },
                     absl::ZeroDuration()),
                 options_.connect_timeout);
}

absl::StatusOr<std::string> Client::OnlyDataset() {
  STOKER_ASSIGN_OR_RETURN(const auto list, ListDatasets());
  if (list.datasets_size() == 1) return list.datasets(0).name();
  const auto name = [](std::string* out, const v1::DatasetInfo& info) { absl::StrAppend(out, info.name()); };
  return absl::InvalidArgumentError(absl::StrCat("dataset: none is given, and the servers have ", list.datasets_size(),
                                                 ": ", absl::StrJoin(list.datasets(), ", ", name)));
}

absl::StatusOr<v1::DescribeResponse> Client::Describe(const v1::DescribeRequest& request) {
  STOKER_ASSIGN_OR_RETURN(const auto addresses, AwaitAddresses());
  const auto answers = AskAll<v1::DescribeResponse>(addresses, [&](const std::string& address, Transport::Call& call) {
    return transport_->Describe(address, request, options_.connect_timeout, call);
  });
  const Answer<v1::DescribeResponse>* first = nullptr;
  for (const auto& answer : answers) {
    if (!answer.response.ok()) continue;
    if (first == nullptr) first = &answer;
    if (auto difference = Difference(first->response->identity(), answer.response->identity()); !difference.empty())
      return absl::FailedPreconditionError(absl::StrCat("servers disagree about dataset '", request.dataset(), "': ",
                                                        answer.address, " beside ", first->address, ": ", difference));
  }
  if (first == nullptr) return NoneAnswered(answers, options_.connect_timeout);
  return *first->response;
}

}  // namespace stoker
