// The part of SpanSource that has spans made twice.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/fleet/span_source.h"
#include "client/receive/transport.h"
#include "common/time/steady_time.h"

namespace stoker {
namespace {

// Bounds of the checks that are not decided: spans, and their samples, each of which takes 24 bytes. What is chosen
// beyond that is not checked.
constexpr size_t kMostChecks = 1024, kMostCheckedSamples = 1 << 20;

// So many differences are told; the others are counted.
constexpr size_t kMostTold = 16;

// How long a server may take to tell a sample's name.
constexpr absl::Duration kNamePatience = absl::Seconds(2);

}  // namespace

void SpanSource::BeginCheck(const SpanId& span, Making making) {
  if (links_.Endpoints().size() < 2) return;
  size_t samples = span.count;
  for (const auto& [ticket, check] : checks_) samples += check.span.count;
  if (checks_.size() >= kMostChecks || samples > kMostCheckedSamples) {
    ++totals_.unverified_spans;
    return;
  }
  const Ticket ticket = scheduler_.Check(span, span.count * layout_.typical_bytes(), {making.endpoint});
  checks_.emplace(ticket, SpanCheck{span, {std::move(making)}});
}

void SpanSource::OnCheck(int id, Ticket ticket, const SpanMessage& message) {
  const absl::Time begun = SteadyNow();
  const v1::SpanHeader& header = message.header;
  std::vector<uint8_t> payload(message.payload_bytes);
  Landing landing;
  if (!header.has_error()) {
    landing.fields.resize(description_.fields_size());
    uint64_t offset = 0;
    for (const SpanLayout::Part& part : layout_.PartsOf(header)) {
      FieldSamples& field = landing.fields[part.field];
      landing.destinations.push_back(std::span(payload).subspan(offset, part.bytes));
      (part.holds == SpanLayout::Part::Holds::kSizes ? field.sizes : field.bytes) = landing.destinations.back();
      offset += part.bytes;
    }
  }
  if (auto status = Land(message, landing); !status.ok()) return OnGarbled(id, ticket, status);
  if (header.has_error()) return OnFailedCheck(id, ticket, header.error());
  Making making = LookAt(-1, "", header, landing.fields, secret_);
  {
    absl::MutexLock lock(&mutex_);
    links_.Received(id);
    making.endpoint = links_.at(id).endpoint;
    making.server = links_.at(id).address;
    scheduler_.Done(id, ticket, begun, absl::Nanoseconds(static_cast<int64_t>(header.times().wait())));
    Judge(ticket, std::move(making));
    totals_.received += SteadyNow() - begun;
  }
  SendWants();
}

void SpanSource::OnFailedCheck(int id, Ticket ticket, const v1::Error& error) {
  {
    absl::MutexLock lock(&mutex_);
    if (error.kind() == v1::ERROR_KIND_SAMPLE || error.kind() == v1::ERROR_KIND_PIPELINE) {
      Making making = Refusal(links_.at(id).endpoint, links_.at(id).address, error);
      scheduler_.Forget({ticket});
      Judge(ticket, std::move(making));
    } else if (!scheduler_.Failed(id, ticket, error.message(), links_.Endpoints())) {
      scheduler_.Forget({ticket});
      const auto check = checks_.find(ticket);
      if (check != checks_.end() && check->second.makings.size() > 1) {
        differences_.push_back(std::move(check->second));
      } else {
        ++totals_.unverified_spans;
      }
      checks_.erase(ticket);
      checked_.SignalAll();
    }
  }
  SendWants();
}

bool SpanSource::AskAnother(int id, Ticket ticket, const v1::Error& error) {
  const auto request = requests_.find(ticket);
  if (verify_ <= 0 || request == requests_.end() || request->second->refusal.has_value()) return false;
  const Link& link = links_.at(id);
  request->second->refusal = Refusal(link.endpoint, link.address, error);
  return scheduler_.Failed(id, ticket, absl::StrCat(link.address, ": ", error.message()), links_.Endpoints()) &&
         (scheduler_.MayBeMade(ticket) || links_.AnotherMayOpen(link.endpoint));
}

void SpanSource::SettleRefusals() {
  std::vector<std::unique_ptr<Pending>> refused;
  {
    absl::MutexLock lock(&mutex_);
    std::set<Ticket> tickets;
    for (const auto& [ticket, request] : requests_)
      if (request->refusal.has_value() && !scheduler_.MayBeMade(ticket) &&
          !links_.AnotherMayOpen(request->refusal->endpoint))
        tickets.insert(ticket);
    scheduler_.Forget(tickets);
    for (Ticket ticket : tickets) refused.push_back(TakeRequest(ticket));
  }
  for (const auto& request : refused) request->done(absl::DataLossError(request->refusal->refusal));
}

void SpanSource::Judge(Ticket ticket, Making making) {
  auto check = checks_.extract(ticket);
  if (check.empty()) return;
  std::vector<Making>& makings = check.mapped().makings;
  makings.push_back(std::move(making));
  checked_.SignalAll();
  if (makings.size() == 2 && makings[0] == makings[1]) {
    ++totals_.verified_spans;
    return;
  }
  if (makings.size() > 2) {
    differences_.push_back(std::move(check.mapped()));
    return;
  }
  // A third server decides. Where there is none, the first is asked again: it may not agree with itself.
  std::set<int> but = {makings[0].endpoint, makings[1].endpoint};
  const std::set<int> members = links_.Endpoints();
  const bool third = std::any_of(members.begin(), members.end(), [&](int it) { return !but.contains(it); });
  if (!third) but = {makings[1].endpoint};
  const SpanId& span = check.mapped().span;
  check.key() = scheduler_.Check(span, span.count * layout_.typical_bytes(), std::move(but));
  checks_.insert(std::move(check));
}

void SpanSource::TellDifferences() {
  std::vector<SpanCheck> differences;
  {
    absl::MutexLock lock(&mutex_);
    for (auto check = checks_.begin(); check != checks_.end();) {
      const auto [ticket, it] = *check++;
      if (it.makings.size() < 2 || scheduler_.MayBeMade(ticket)) continue;
      scheduler_.Forget({ticket});
      differences_.push_back(it);
      checks_.erase(ticket);
    }
    differences = std::exchange(differences_, {});
    telling_ = !differences.empty();
  }
  if (differences.empty()) return;
  for (const SpanCheck& difference : differences) Tell(difference);
  absl::MutexLock lock(&mutex_);
  telling_ = false;
  checked_.SignalAll();
}

void SpanSource::Tell(const SpanCheck& difference) {
  {
    absl::MutexLock lock(&mutex_);
    if (++totals_.differing_spans > kMostTold || stopping_) return;
  }
  const DifferingSample sample = FindDifference(difference);
  std::string text = Explain(difference, sample, NameOf(sample.id, difference.makings));
  {
    absl::MutexLock lock(&mutex_);
    totals_.differences.push_back(text);
  }
  on_difference_(absl::DataLossError(text));
}

std::string SpanSource::NameOf(uint64_t sample_id, const std::vector<Making>& servers) const {
  v1::ListSamplesRequest request;
  request.set_dataset(open_.dataset());
  request.mutable_names()->add_ids(sample_id);
  const absl::Time deadline = SteadyNow() + kNamePatience;
  for (const Making& server : servers) {
    Transport::Call call(Transport::Call::Connect::kOnce);
    const auto response = client_->transport()->ListSamples(server.server, request, deadline, call);
    if (response.ok() && response->names_size() == 1) return response->names(0);
  }
  return "";
}

bool SpanSource::IsOpen(Ticket ticket, const SpanCheck& check, uint64_t epoch) const {
  return check.span.epoch <= epoch &&
         (check.makings.size() > 1 || scheduler_.MayBeMade(ticket) || links_.AnotherMayOpen(check.makings[0].endpoint));
}

bool SpanSource::AwaitChecks(uint64_t epoch, absl::Time until) {
  absl::MutexLock lock(&mutex_);
  const auto open = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return telling_ || !differences_.empty() ||
           std::any_of(checks_.begin(), checks_.end(), [&](const auto& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
             return IsOpen(entry.first, entry.second, epoch);
           });
  };
  while (open() && !stopping_ && SteadyNow() < until) checked_.WaitWithTimeout(&mutex_, until - SteadyNow());
  return !open();
}

}  // namespace stoker
