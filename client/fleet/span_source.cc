#include "client/fleet/span_source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/receive/transport.h"
#include "common/check.h"
#include "common/identity/mix.h"
#include "common/status_macros.h"
#include "common/time/steady_time.h"

namespace stoker {
namespace {

// How often late answers and pauses that are over are looked for: well below LatePolicy's least hedge.
constexpr absl::Duration kPollInterval = absl::Milliseconds(20);

// How often names are looked up, and files read again, of servers, certificates and tokens.
constexpr absl::Duration kResolveInterval = absl::Seconds(2);

// How often servers are told how long the job waited.
constexpr absl::Duration kReportInterval = absl::Seconds(1);

// A server may claim no more than so many workers: windows are in proportion to them.
constexpr uint32_t kMostParallelism = 1 << 14;

// A hash that is equal in all processes: jobs must agree which server keeps a span.
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

// Passes on what one stream tells. Constant.
class SpanSource::Listener : public SpanStream::Handler {
 public:
  Listener(std::shared_ptr<SpanSource> source, int link) : source_(std::move(source)), link_(link) {}

  absl::Status OnOpened(const v1::Opened& opened) override { return source_->OnOpened(link_, opened); }
  void OnSpan(const SpanMessage& span) override { source_->OnSpan(link_, span); }
  void OnDrain() override { source_->OnDrain(link_); }
  void OnClosed(const absl::Status& status) override { source_->OnClosed(link_, status); }

 private:
  const std::shared_ptr<SpanSource> source_;
  const int link_;
};

SpanSource::SpanSource(Options options)
    : client_(options.client),
      open_(std::move(options.open)),
      description_(std::move(options.description)),
      fields_(description_.fields().begin(), description_.fields().end()),
      layout_(fields_),
      waited_(std::move(options.waited)),
      verify_(options.verify),
      on_difference_(std::move(options.on_difference)),
      secret_(uint64_t{std::random_device{}()} << 32 | std::random_device{}()),
      scheduler_(options.scheduler),
      links_(client_->options().connections),
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
    checked_.SignalAll();
    for (const auto& [id, link] : links_.all())
      if (link.stream != nullptr) streams.push_back(link.stream);
  }
  for (const auto& stream : streams) stream->Abort();
  if (poller_.joinable()) poller_.join();
  absl::MutexLock lock(&mutex_);
  while (streams_ > 0) changed_.Wait(&mutex_);
}

// ---- membership and connections, on the poller's thread ----

void SpanSource::Poll() {
  absl::Time resolve_at = absl::InfinitePast();
  while (true) {
    if (SteadyNow() >= resolve_at) {
      client_->LookUpAgain();
      resolve_at = SteadyNow() + kResolveInterval;
    }
    UpdateMembers();
    Connect();
    Expire();
    RefuseOtherData();
    SettleRefusals();
    TellDifferences();
    SendWants(/*hedge=*/true);
    Report();
    absl::MutexLock lock(&mutex_);
    if (!stopping_) changed_.WaitWithTimeout(&mutex_, kPollInterval);
    if (stopping_) return;
  }
}

void SpanSource::UpdateMembers() {
  const uint64_t look_ups = client_->LookUps();  // Read first: what is looked up meanwhile comes with the next round.
  if (look_ups_ == look_ups) return;
  look_ups_ = look_ups;
  client_->transport()->RefreshSecurity();
  const Client::Known known = client_->Addresses();
  absl::MutexLock lock(&mutex_);
  links_.Update(known.addresses, known.complete);
}

// Opens the streams that are due, and gives up those that do not open.
void SpanSource::Connect() {
  std::vector<Hopeless> hopeless;
  {
    absl::MutexLock lock(&mutex_);
    if (stopping_) return;
    const absl::Time now = SteadyNow();
    for (int id : links_.Due(now)) {
      const Link& link = links_.at(id);
      auto listener = std::make_shared<Listener>(shared_from_this(), id);
      links_.Begin(id, now);
      ++streams_;
      // What the stream tells waits for the lock, hence for the link to have the stream.
      links_.SetStream(id, client_->transport()->Open(link.address, link.connection, open_, std::move(listener)));
    }
    for (int id : links_.Unopened(now)) hopeless.push_back(HopelessOf(id));
  }
  GiveUp(hopeless);
}

// Takes back what is overdue, and gives up servers that hang.
void SpanSource::Expire() {
  std::vector<Hopeless> hopeless;
  Cancels cancels;
  {
    absl::MutexLock lock(&mutex_);
    const Scheduler::Overdue overdue = scheduler_.Expire(SteadyNow());
    totals_.retried_spans += overdue.lost.size();
    AddCancels(overdue.lost, cancels);
    for (int id : overdue.hung) {
      links_.Hung(id);
      hopeless.push_back(HopelessOf(id));
    }
  }
  for (const auto& [stream, span] : cancels) stream->Cancel(span);
  GiveUp(hopeless);
}

// Fails what is needed where no server has what this job began with: waiting would not help.
void SpanSource::RefuseOtherData() {
  std::map<Ticket, std::unique_ptr<Pending>> failed;
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    if (stopping_ || !links_.AllDiffer()) return;
    status = absl::FailedPreconditionError(absl::StrCat("no server has what this job began with (",
                                                        absl::StrJoin(links_.Problems(), "; "),
                                                        "): bring it back and go on, or begin a new job"));
    failed = std::exchange(requests_, {});
    std::set<Ticket> tickets;
    for (const auto& [ticket, request] : failed) tickets.insert(ticket);
    scheduler_.Forget(tickets);
  }
  for (const auto& [ticket, request] : failed) request->done(status);
}

// Tells each server what the job waited since they were told last. What nobody hears is not told later.
void SpanSource::Report() {
  if (SteadyNow() < report_at_) return;
  report_at_ = SteadyNow() + kReportInterval;
  const absl::Duration waited = waited_();  // It may take another lock.
  const absl::Duration news = waited - std::exchange(reported_, waited);
  if (news <= absl::ZeroDuration()) return;
  std::vector<std::shared_ptr<SpanStream>> streams;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [id, link] : links_.all())
      if (link.stream != nullptr && link.opened && link.takes_reports) streams.push_back(link.stream);
  }
  for (const auto& stream : streams) stream->Report(news, streams.size());
}

SpanSource::Hopeless SpanSource::HopelessOf(int id) const {
  const Link& link = links_.at(id);
  return {link.address, link.connection, link.stream};
}

void SpanSource::GiveUp(const std::vector<Hopeless>& all) {
  for (const Hopeless& it : all) {
    client_->transport()->Drop(it.address, it.connection, *it.stream);
    it.stream->Abort();
  }
}

void SpanSource::AddCancels(const std::vector<Scheduler::Assignment>& asked, Cancels& cancels) const {
  for (const Scheduler::Assignment& assignment : asked)
    if (const auto& stream = links_.at(assignment.server).stream) cancels.emplace_back(stream, assignment.span);
}

// ---- what streams tell, on the transport's thread ----

absl::Status SpanSource::OnOpened(int id, const v1::Opened& opened) {
  if (auto difference = Difference(description_.identity(), opened.identity()); !difference.empty())
    return absl::FailedPreconditionError(difference);
  if (opened.sample_bytes() != description_.sample_bytes())
    return absl::FailedPreconditionError(absl::StrCat("it would send ", opened.sample_bytes(),
                                                      " bytes a sample instead of ", description_.sample_bytes()));
  {
    absl::MutexLock lock(&mutex_);
    const Link& link = links_.at(id);
    if (link.opened) return absl::InternalError("the server opened the stream twice");
    links_.Opened(id, opened, SteadyNow());
    // All connections to a server share its workers.
    const int connections = client_->options().connections;
    const int workers = static_cast<int>(std::clamp<uint32_t>(opened.parallelism(), 1, kMostParallelism));
    const auto part = [&](int whole) { return (whole + connections - 1 - link.connection) / connections; };
    const int window = static_cast<int>(std::min<uint32_t>(opened.window(), kMostParallelism));
    scheduler_.AddServer(id, {.parallelism = std::max(1, part(workers)),
                              .caches = opened.span_cache(),
                              .name = HashOf(link.address),
                              .endpoint = link.endpoint,
                              .workers = workers,
                              .window = part(window)});
  }
  SendWants();
  return absl::OkStatus();
}

absl::Status SpanSource::CheckShape(uint64_t stream_key, const SpanMessage& span) const {
  const v1::SpanHeader& header = span.header;
  if (header.stream_key() != stream_key) return absl::DataLossError("a span of another stream");
  if (header.has_error()) return absl::OkStatus();
  if (span.payload_bytes != layout_.PayloadBytes(header) ||
      header.sample_ids_size() != static_cast<int>(header.count()) ||
      (open_.names() && header.names_size() != static_cast<int>(header.count())))
    return absl::DataLossError(absl::StrCat("a span of ", header.count(), " samples with ", span.payload_bytes,
                                            " bytes and ", header.sample_ids_size(), " ids"));
  return absl::OkStatus();
}

void SpanSource::OnSpan(int id, const SpanMessage& message) {
  const absl::Time begun = SteadyNow();
  const v1::SpanHeader& header = message.header;
  Ticket ticket = 0;
  uint64_t stream_key = 0;
  Request wanted;  // Keeps the destinations while they are written to without the lock.
  {
    absl::MutexLock lock(&mutex_);
    const auto owed = scheduler_.Arrived(id, {header.epoch(), header.start(), header.count()});
    if (!owed.has_value()) return;  // It was taken back while it was on its way, or another server's is taken.
    ticket = *owed;
    stream_key = links_.at(id).stream_key;
    if (!Scheduler::IsCheck(ticket)) {
      const auto request = requests_.find(ticket);
      if (request == requests_.end()) return;  // This is being shut down.
      wanted.destinations = request->second->destinations;
      wanted.owner = request->second->owner;
      wanted.room = request->second->room;
    }
  }
  absl::Status status = CheckShape(stream_key, message);
  if (status.ok() && Scheduler::IsCheck(ticket)) return OnCheck(id, ticket, message);
  absl::StatusOr<Landing> landing = Landing();
  if (status.ok() && !header.has_error()) landing = LandingOf(wanted, header);
  if (!landing.ok()) return OnNoRoom(ticket, landing.status());
  if (status.ok()) status = Land(message, *landing);
  if (!status.ok()) return OnGarbled(id, ticket, status);
  if (header.has_error()) return OnFailedSpan(id, ticket, header.error());
  OnGoodSpan(id, ticket, message, landing->fields, begun);
}

absl::StatusOr<SpanSource::Landing> SpanSource::LandingOf(const Request& request, const v1::SpanHeader& header) const {
  Landing landing;
  landing.fields.resize(request.destinations.size());
  for (const SpanLayout::Part& part : layout_.PartsOf(header)) {
    FieldSamples& field = landing.fields[part.field];
    std::span<uint8_t> to = request.destinations[part.field];
    if (part.holds == SpanLayout::Part::Holds::kValues) {
      STOKER_ASSIGN_OR_RETURN(to, request.room(part.field, part.bytes));
    }
    (part.holds == SpanLayout::Part::Holds::kSizes ? field.sizes : field.bytes) = to;
    landing.destinations.push_back(to);
  }
  return landing;
}

absl::Status SpanSource::Land(const SpanMessage& span, const Landing& landing) const {
  STOKER_RETURN_IF_ERROR(CopyPayload(span, landing.destinations));
  for (size_t i = 0; i < landing.fields.size(); ++i)
    if (const FieldSamples& field = landing.fields[i]; !field.sizes.empty())
      STOKER_RETURN_IF_ERROR(layout_.CheckSizes(i, field.sizes, field.bytes.size()));
  return landing.fields.empty() ? absl::OkStatus() : CheckTogether(fields_, landing.fields);
}

void SpanSource::OnNoRoom(Ticket ticket, const absl::Status& status) {
  std::unique_ptr<Pending> request;
  Cancels cancels;
  {
    absl::MutexLock lock(&mutex_);
    AddCancels(scheduler_.Forget({ticket}), cancels);
    request = TakeRequest(ticket);
  }
  for (const auto& [stream, span] : cancels) stream->Cancel(span);
  SendWants();
  if (request != nullptr) request->done(status);
}

void SpanSource::OnGoodSpan(int id, Ticket ticket, const SpanMessage& message, std::span<const FieldSamples> fields,
                            absl::Time begun) {
  const v1::SpanHeader& header = message.header;
  const SpanId span{header.epoch(), header.start(), header.count()};
  std::optional<Making> making;
  if (verify_ > 0 && IsChecked(span, open_.seed(), verify_)) making = LookAt(-1, "", header, fields, secret_);
  const v1::StageTimes& times = header.times();
  std::unique_ptr<Pending> request;
  Cancels cancels;
  {
    absl::MutexLock lock(&mutex_);
    links_.Received(id);
    ++totals_.spans;
    totals_.cached_spans += header.cached() ? 1 : 0;
    totals_.bytes += message.payload_bytes;
    totals_.server.set_wait(totals_.server.wait() + times.wait());
    totals_.server.set_fetch(totals_.server.fetch() + times.fetch());
    totals_.server.set_read(totals_.server.read() + times.read());
    totals_.server.set_decode(totals_.server.decode() + times.decode());
    totals_.server.set_augment(totals_.server.augment() + times.augment());
    totals_.server.set_own_ops(totals_.server.own_ops() + times.own_ops());
    totals_.server.set_pack(totals_.server.pack() + times.pack());
    const absl::Duration queued = absl::Nanoseconds(static_cast<int64_t>(times.wait()));
    AddCancels(scheduler_.Done(id, ticket, begun, queued), cancels);
    request = TakeRequest(ticket);
    const Link& link = links_.at(id);
    if (request != nullptr && request->refusal.has_value()) {
      const Making made{.endpoint = link.endpoint, .server = link.address};
      differences_.push_back({span, {made, *std::move(request->refusal)}});
    } else if (making.has_value()) {
      making->endpoint = link.endpoint;
      making->server = link.address;
      BeginCheck(span, *std::move(making));
    }
    totals_.received += SteadyNow() - begun;
  }
  for (const auto& [stream, span] : cancels) stream->Cancel(span);
  SendWants();
  if (request != nullptr) request->done(header);
}

void SpanSource::OnFailedSpan(int id, Ticket ticket, const v1::Error& error) {
  std::unique_ptr<Pending> request;
  Cancels cancels;
  absl::Status status = ToStatus(error);
  {
    absl::MutexLock lock(&mutex_);
    bool final = true;  // No other server is asked.
    if (absl::IsDataLoss(status)) {
      final = !AskAnother(id, ticket, error);
    } else if (absl::IsUnavailable(status)) {
      const std::string reason = absl::StrCat(links_.at(id).address, ": ", error.message());
      final = !scheduler_.Failed(id, ticket, reason, links_.Endpoints());
      if (final) status = absl::UnavailableError("every server failed a span: " + scheduler_.Reasons(ticket));
    }
    if (final) {
      AddCancels(scheduler_.Forget({ticket}), cancels);
      request = TakeRequest(ticket);
      if (request != nullptr && request->refusal.has_value()) status = absl::DataLossError(request->refusal->refusal);
    } else {
      ++totals_.retried_spans;
    }
  }
  for (const auto& [stream, span] : cancels) stream->Cancel(span);
  SendWants();
  if (request != nullptr) request->done(status);
}

void SpanSource::OnGarbled(int id, Ticket ticket, const absl::Status& status) {
  std::shared_ptr<SpanStream> hopeless;
  {
    absl::MutexLock lock(&mutex_);
    scheduler_.Retry(id, ticket);
    ++totals_.retried_spans;
    if (links_.Garbled(id, std::string(status.message()))) hopeless = links_.at(id).stream;
  }
  if (hopeless != nullptr) hopeless->Abort();
  SendWants();
}

void SpanSource::OnDrain(int id) {
  std::shared_ptr<SpanStream> stream;
  {
    absl::MutexLock lock(&mutex_);
    scheduler_.CloseServer(id);
    links_.Draining(id);
    stream = links_.at(id).stream;
  }
  stream->HalfClose();
}

void SpanSource::OnClosed(int id, const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    totals_.retried_spans += scheduler_.RemoveServer(id);
    links_.Closed(id, status, SteadyNow(), std::uniform_real_distribution<>()(jitter_));
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
      tickets.push_back(scheduler_.Need(request.span, request.span.count * layout_.typical_bytes()));
      requests_.emplace(tickets.back(), std::make_unique<Pending>(Pending{std::move(request), {}}));
    }
    if (links_.AllDiffer()) links_.TryDifferingNow();
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
      for (const auto& assignment : assignments) wants.emplace_back(links_.at(assignment.server).stream, assignment);
    }
    for (const auto& [stream, want] : wants) {
      if (stream->Want(want.span, want.anew)) continue;
      // The stream was half-closed or broke meanwhile, and OnClosed follows, or came already.
      absl::MutexLock lock(&mutex_);
      const Link* const link = links_.Find(want.server);
      if (link == nullptr || link->stream != stream) continue;
      scheduler_.CloseServer(want.server);
      scheduler_.Retry(want.server, want.ticket);
      refused = true;
    }
  }
}

std::unique_ptr<SpanSource::Pending> SpanSource::TakeRequest(Ticket ticket) {
  auto found = requests_.find(ticket);
  if (found == requests_.end()) return nullptr;
  auto request = std::move(found->second);
  requests_.erase(found);
  return request;
}

FleetStats SpanSource::stats() const {
  absl::MutexLock lock(&mutex_);
  FleetStats stats = totals_;
  stats.hedged_spans = scheduler_.hedged();
  stats.servers = links_.Servers();
  return stats;
}

std::string SpanSource::Problems() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::string> problems = links_.Problems();
  if (auto reasons = scheduler_.FirstReasons(); !reasons.empty()) problems.push_back("a span failed: " + reasons);
  return absl::StrJoin(problems, "; ");
}

}  // namespace stoker
