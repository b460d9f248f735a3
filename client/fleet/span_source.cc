#include "client/fleet/span_source.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/receive/transport.h"
#include "client/schedule/backoff.h"
#include "common/check.h"
#include "common/identity/mix.h"

namespace stoker {
namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(20);
constexpr absl::Duration kResolveInterval = absl::Seconds(2);
constexpr absl::Duration kOpenTimeout = absl::Seconds(10);

constexpr uint32_t kMostParallelism = 1 << 14;  // That a server may claim.

// Garbled spans in a row after which a stream is given up.
constexpr int kMostGarbled = 8;

// For the scheduler: a clock that nobody sets.
absl::Time SteadyNow() {
  return absl::UnixEpoch() + absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

// Equal in all processes: jobs must agree which server keeps a span.
uint64_t HashOf(const std::string& address) {
  uint64_t hash = 0;
  for (char c : address) hash = MixAll({hash, static_cast<uint8_t>(c)});
  return hash;
}

absl::Status ToStatus(const v1::Error& error) {
  switch (error.kind()) {
    case v1::ERROR_KIND_SAMPLE: return absl::DataLossError(error.message());
    case v1::ERROR_KIND_PIPELINE: return absl::FailedPreconditionError(error.message());
    default: return absl::UnavailableError(error.message());
  }
}

}  // namespace

// One connection to a server. All but the address is guarded by the source's mutex.
class SpanSource::Link : public SpanStream::Handler, public std::enable_shared_from_this<Link> {
 public:
  Link(std::shared_ptr<SpanSource> source, int id, std::string address, int connection, int endpoint)
      : id(id), address(std::move(address)), connection(connection), endpoint(endpoint), source_(std::move(source)) {}

  absl::Status OnOpened(const v1::Opened& opened) override { return source_->OnOpened(*this, opened); }
  void OnSpan(const SpanMessage& span) override { source_->OnSpan(*this, span); }
  void OnDrain() override { source_->OnDrain(*this); }
  void OnClosed(const absl::Status& status) override { source_->OnClosed(*this, status); }

  const int id;
  const std::string address;
  const int connection;  // To this address, from 0.
  const int endpoint;    // Equal for all connections to it: the first one's id.

  std::shared_ptr<SpanStream> stream;  // Null between attempts.
  bool opened = false;
  bool member = true;  // Its name still stands for it.
  uint64_t stream_key = 0;
  std::string problem = "not connected yet";
  absl::Time next_attempt = absl::InfinitePast();
  absl::Time begun, opened_at;
  Backoff backoff;
  int garbled = 0;
  bool hung = false;  // Given up for staying silent.
  uint64_t spans = 0;

 private:
  const std::shared_ptr<SpanSource> source_;
};

SpanSource::SpanSource(Options options)
    : client_(options.client),
      open_(std::move(options.open)),
      description_(std::move(options.description)),
      scheduler_(options.scheduler),
      jitter_(std::random_device{}()) {}

void SpanSource::Start() {
  poller_ = std::thread([this] { Poll(); });
}

void SpanSource::Shutdown() {
  std::vector<std::shared_ptr<SpanStream>> streams;
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    requests_.clear();
    changed_.SignalAll();
    for (auto& [id, link] : links_)
      if (link->stream != nullptr) streams.push_back(link->stream);
  }
  for (const auto& stream : streams) stream->Abort();
  if (poller_.joinable()) poller_.join();
  std::map<int, std::shared_ptr<Link>> links;  // They hold this: let go without the lock.
  absl::MutexLock lock(&mutex_);
  while (streams_ > 0) changed_.Wait(&mutex_);
  links.swap(links_);
}

// ---- membership and connections, on the poller's thread ----

void SpanSource::Poll() {
  absl::Time resolve_at = absl::InfinitePast();
  while (true) {
    if (absl::Now() >= resolve_at) {
      UpdateMembers();
      resolve_at = absl::Now() + kResolveInterval;
    }
    PollConnections();
    Expire();
    SendWants(/*hedge=*/true);
    absl::MutexLock lock(&mutex_);
    if (!stopping_) changed_.WaitWithTimeout(&mutex_, kPollInterval);
    if (stopping_) return;
  }
}

void SpanSource::UpdateMembers() {
  bool complete = true;
  const std::vector<std::string> addresses = client_->Addresses(&complete);
  std::vector<std::shared_ptr<Link>> gone;  // They hold this: let go without the lock.
  absl::MutexLock lock(&mutex_);
  for (auto& [id, link] : links_) {
    const bool found = std::find(addresses.begin(), addresses.end(), link->address) != addresses.end();
    link->member = found || (!complete && link->member);  // A name server's fault is no server's.
    if (!link->member && link->stream == nullptr) gone.push_back(link);
  }
  for (const auto& link : gone) links_.erase(link->id);
  std::set<std::pair<std::string, int>> known;
  std::map<std::string, int> endpoints;
  for (const auto& [id, link] : links_) {
    known.emplace(link->address, link->connection);
    endpoints.emplace(link->address, link->endpoint);
  }
  for (const std::string& address : addresses) {
    const int endpoint = endpoints.try_emplace(address, next_link_).first->second;
    for (int connection = 0; connection < client_->options().connections; ++connection) {
      if (known.contains({address, connection})) continue;
      const int id = next_link_++;
      links_.emplace(id, std::make_shared<Link>(shared_from_this(), id, address, connection, endpoint));
    }
  }
}

void SpanSource::PollConnections() {
  std::vector<std::shared_ptr<Link>> hung;
  {
    absl::MutexLock lock(&mutex_);
    if (stopping_) return;
    const absl::Time now = absl::Now();
    for (auto& [id, link] : links_) {
      if (link->stream == nullptr && link->member && now >= link->next_attempt) Connect(*link);
      if (link->stream != nullptr && !link->opened && now - link->begun > kOpenTimeout) hung.push_back(link);
    }
  }
  for (const auto& link : hung) GiveUp(*link);
}

// Ends a stream that stays silent, and its connection: the fault may be that one's alone.
void SpanSource::GiveUp(const Link& link) {
  std::shared_ptr<SpanStream> stream;
  {
    absl::MutexLock lock(&mutex_);
    stream = link.stream;
  }
  if (stream == nullptr) return;
  client_->transport()->Drop(link.address, link.connection, *stream);
  stream->Abort();
}

// Takes back what is overdue, and gives up servers that hang.
void SpanSource::Expire() {
  std::vector<std::shared_ptr<Link>> hung;
  Cancels cancels;
  {
    absl::MutexLock lock(&mutex_);
    const Scheduler::Overdue overdue = scheduler_.Expire(SteadyNow());
    retried_ += overdue.lost.size();
    AddCancels(overdue.lost, cancels);
    for (int id : overdue.hung) {
      hung.push_back(links_.at(id));
      hung.back()->problem = "it answers nothing";
      hung.back()->hung = true;
    }
  }
  for (const auto& [stream, span] : cancels) stream->Cancel(span);
  for (const auto& link : hung) GiveUp(*link);
}

void SpanSource::AddCancels(const std::vector<Scheduler::Assignment>& asked, Cancels& cancels) const {
  for (const Scheduler::Assignment& assignment : asked)
    if (const auto& stream = links_.at(assignment.server)->stream) cancels.emplace_back(stream, assignment.span);
}

void SpanSource::Connect(Link& link) {
  link.begun = absl::Now();
  ++streams_;
  // What the stream tells waits for the lock, hence for `stream` to be set.
  link.stream = client_->transport()->Open(link.address, link.connection, open_, link.shared_from_this());
}

// ---- what streams tell, on the transport's thread ----

absl::Status SpanSource::OnOpened(Link& link, const v1::Opened& opened) {
  {
    absl::MutexLock lock(&mutex_);
    if (link.opened) return absl::InternalError("the server opened the stream twice");
    if (auto difference = Difference(description_.identity(), opened.identity()); !difference.empty())
      return absl::FailedPreconditionError(difference);
    if (opened.sample_bytes() != description_.sample_bytes())
      return absl::FailedPreconditionError(absl::StrCat("it would send ", opened.sample_bytes(),
                                                        " bytes a sample instead of ", description_.sample_bytes()));
    link.opened = true;
    link.stream_key = opened.stream_key();
    link.problem.clear();
    link.garbled = 0;
    link.hung = false;
    link.opened_at = absl::Now();
    // Connections share the server's workers.
    const int connections = client_->options().connections;
    const int workers = static_cast<int>(std::clamp<uint32_t>(opened.parallelism(), 1, kMostParallelism));
    const int parallelism = std::max(1, (workers + connections - 1 - link.connection) / connections);
    scheduler_.AddServer(link.id, {.parallelism = parallelism,
                                   .caches = opened.span_cache(),
                                   .name = HashOf(link.address),
                                   .endpoint = link.endpoint,
                                   .workers = workers});
  }
  SendWants();
  return absl::OkStatus();
}

absl::Status SpanSource::CheckShape(const Link& link, const SpanMessage& span) const {
  const v1::SpanHeader& header = span.header;
  if (header.stream_key() != link.stream_key) return absl::DataLossError("a span of another stream");
  if (header.has_error()) return absl::OkStatus();
  if (span.payload_bytes != header.count() * description_.sample_bytes() ||
      header.sample_ids_size() != static_cast<int>(header.count()) ||
      (open_.names() && header.names_size() != static_cast<int>(header.count())))
    return absl::DataLossError(absl::StrCat("a span of ", header.count(), " samples with ", span.payload_bytes,
                                            " bytes and ", header.sample_ids_size(), " ids"));
  return absl::OkStatus();
}

void SpanSource::OnSpan(Link& link, const SpanMessage& message) {
  const absl::Time begun = SteadyNow();
  const v1::SpanHeader& header = message.header;
  Ticket ticket = 0;
  std::vector<std::span<uint8_t>> destinations;
  std::shared_ptr<void> owner;  // Of the destinations, while they are written to without the lock.
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    const auto owed = scheduler_.Arrived(link.id, {header.epoch(), header.start(), header.count()});
    if (!owed.has_value()) return;  // Taken back while it was on its way, or another server's is taken.
    ticket = *owed;
    if (!requests_.contains(ticket)) return;  // This is being shut down.
    destinations = requests_.at(ticket)->destinations;
    owner = requests_.at(ticket)->owner;
    status = CheckShape(link, message);
  }
  if (status.ok() && header.has_error()) destinations.clear();
  if (status.ok()) status = CopyPayload(message, destinations);
  if (!status.ok()) return OnGarbled(link, ticket, status);
  if (header.has_error()) return OnFailedSpan(link, ticket, header.error());

  std::unique_ptr<Request> request;
  Cancels cancels;
  {
    absl::MutexLock lock(&mutex_);
    link.garbled = 0;
    link.problem.clear();
    ++link.spans;
    cached_ += header.cached() ? 1 : 0;
    ++spans_;
    bytes_ += message.payload_bytes;
    server_times_.set_wait(server_times_.wait() + header.times().wait());
    server_times_.set_read(server_times_.read() + header.times().read());
    server_times_.set_decode(server_times_.decode() + header.times().decode());
    server_times_.set_augment(server_times_.augment() + header.times().augment());
    server_times_.set_pack(server_times_.pack() + header.times().pack());
    const absl::Duration queued = absl::Nanoseconds(static_cast<int64_t>(header.times().wait()));
    AddCancels(scheduler_.Done(link.id, ticket, begun, queued), cancels);
    request = TakeRequest(ticket);
    received_ += SteadyNow() - begun;
  }
  for (const auto& [stream, span] : cancels) stream->Cancel(span);
  SendWants();
  if (request != nullptr) request->done(header);
}

void SpanSource::OnFailedSpan(Link& link, Ticket ticket, const v1::Error& error) {
  std::unique_ptr<Request> request;
  Cancels cancels;
  absl::Status status = ToStatus(error);
  {
    absl::MutexLock lock(&mutex_);
    std::set<int> members;
    for (const auto& [id, member] : links_)
      if (member->member) members.insert(member->endpoint);
    if (!absl::IsUnavailable(status)) {
      AddCancels(scheduler_.Forget({ticket}), cancels);
      request = TakeRequest(ticket);
    } else if (scheduler_.Failed(link.id, ticket, absl::StrCat(link.address, ": ", error.message()), members)) {
      ++retried_;
    } else {
      status = absl::UnavailableError(absl::StrCat("every server failed a span: ", scheduler_.Reasons(ticket)));
      AddCancels(scheduler_.Forget({ticket}), cancels);
      request = TakeRequest(ticket);
    }
  }
  for (const auto& [stream, span] : cancels) stream->Cancel(span);
  SendWants();
  if (request != nullptr) request->done(status);
}

void SpanSource::OnGarbled(Link& link, Ticket ticket, const absl::Status& status) {
  std::shared_ptr<SpanStream> hopeless;
  {
    absl::MutexLock lock(&mutex_);
    scheduler_.Retry(link.id, ticket);
    ++retried_;
    link.problem = std::string(status.message());
    if (++link.garbled > kMostGarbled) hopeless = link.stream;
  }
  if (hopeless != nullptr) hopeless->Abort();
  SendWants();
}

void SpanSource::OnDrain(Link& link) {
  std::shared_ptr<SpanStream> stream;
  {
    absl::MutexLock lock(&mutex_);
    scheduler_.CloseServer(link.id);
    link.problem = "shutting down";
    stream = link.stream;
  }
  stream->HalfClose();
}

void SpanSource::OnClosed(Link& link, const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    retried_ += scheduler_.RemoveServer(link.id);
    const bool known = link.hung || (status.ok() && !link.problem.empty());
    if (!known) link.problem = status.ok() ? "it ended the stream" : std::string(status.message());
    const absl::Duration served = link.opened ? absl::Now() - link.opened_at : absl::ZeroDuration();
    link.opened = false;
    link.stream = nullptr;
    link.next_attempt = absl::Now() + link.backoff.Pause(served, std::uniform_real_distribution<>()(jitter_));
  }
  SendWants();
  absl::MutexLock lock(&mutex_);
  --streams_;
  changed_.SignalAll();
}

// ---- requests ----

std::vector<SpanSource::Ticket> SpanSource::Fetch(std::vector<Request> requests) {
  std::vector<Ticket> tickets;
  {
    absl::MutexLock lock(&mutex_);
    for (Request& request : requests) {
      tickets.push_back(scheduler_.Need(request.span, request.span.count * description_.sample_bytes()));
      requests_.emplace(tickets.back(), std::make_unique<Request>(std::move(request)));
    }
  }
  SendWants();
  return tickets;
}

void SpanSource::Forget(const std::set<Ticket>& tickets) {
  Cancels cancels;
  {
    absl::MutexLock lock(&mutex_);
    AddCancels(scheduler_.Forget(tickets), cancels);
    for (Ticket ticket : tickets) requests_.erase(ticket);
  }
  for (const auto& [stream, span] : cancels) stream->Cancel(span);
  SendWants();
}

void SpanSource::SendWants(bool hedge) {
  bool refused = true;
  while (refused) {  // Each refusal closes a server, so this ends.
    refused = false;
    std::vector<std::pair<std::shared_ptr<SpanStream>, Scheduler::Assignment>> wants;
    {
      absl::MutexLock lock(&mutex_);
      std::vector<Scheduler::Assignment> assignments;
      if (std::exchange(hedge, false)) assignments = scheduler_.Hedge(SteadyNow());
      for (const auto& assignment : scheduler_.Assign(SteadyNow())) assignments.push_back(assignment);
      for (const auto& assignment : assignments) wants.emplace_back(links_.at(assignment.server)->stream, assignment);
    }
    for (const auto& [stream, want] : wants) {
      if (stream->Want(want.span)) continue;
      // It was half-closed or broke meanwhile, and OnClosed follows, or came already.
      absl::MutexLock lock(&mutex_);
      const auto link = links_.find(want.server);
      if (link == links_.end() || link->second->stream != stream) continue;
      scheduler_.CloseServer(want.server);
      scheduler_.Retry(want.server, want.ticket);
      refused = true;
    }
  }
}

std::unique_ptr<SpanSource::Request> SpanSource::TakeRequest(Ticket ticket) {
  auto found = requests_.find(ticket);
  if (found == requests_.end()) return nullptr;
  auto request = std::move(found->second);
  requests_.erase(found);
  return request;
}

FleetStats SpanSource::stats() const {
  FleetStats stats;
  absl::MutexLock lock(&mutex_);
  stats.spans = spans_;
  stats.bytes = bytes_;
  stats.retried_spans = retried_;
  stats.hedged_spans = scheduler_.hedged();
  stats.cached_spans = cached_;
  stats.received = received_;
  stats.server = server_times_;
  std::map<std::string, FleetStats::Server> servers;
  for (const auto& [id, link] : links_) {
    FleetStats::Server& server = servers[link->address];
    server.address = link->address;
    server.connected |= link->opened;
    server.spans += link->spans;
    if (server.problem.empty()) server.problem = link->problem;
  }
  for (auto& [address, server] : servers) {
    if (server.connected) server.problem.clear();  // Of one of its connections.
    stats.servers.push_back(std::move(server));
  }
  return stats;
}

std::string SpanSource::Problems() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::string> problems;
  for (const auto& [id, link] : links_)
    problems.push_back(absl::StrCat(link->address, ": ", link->problem.empty() ? "connected" : link->problem));
  if (auto reasons = scheduler_.FirstReasons(); !reasons.empty()) problems.push_back("a span failed: " + reasons);
  return absl::StrJoin(problems, "; ");
}

}  // namespace stoker
