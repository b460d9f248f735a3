#include "tests/support/simulated_fleet.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <set>

#include "client/schedule/backoff.h"
#include "common/check.h"
#include "common/identity/mix.h"

namespace stoker {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(20);
constexpr absl::Duration kOpenTimeout = absl::Seconds(10);
constexpr uint64_t kSpanBytes = 1 << 20;

class World {
 public:
  explicit World(const Simulation& simulation)
      : simulation_(simulation), random_(simulation.seed), scheduler_(simulation.scheduler) {
    for (const SimulatedServer& server : simulation.servers) servers_.push_back({.description = server});
    result_.by_server.resize(servers_.size());
  }

  Simulated Run();

 private:
  struct Want {
    SpanId span;
    absl::Time since;
  };
  struct Server {
    SimulatedServer description;
    uint64_t connection = 0;  // Raised by each end: what was on its way then is void.
    uint64_t life = 0;        // Raised by each kill: what was in work then is never done.
    bool connected = false;
    absl::Time connected_at;
    Backoff backoff;
    std::deque<Want> queue;
    int busy = 0;
  };
  struct Event {
    absl::Time at;
    uint64_t number = 0;
    std::function<void()> run;
    bool operator<(const Event& other) const { return std::tie(other.at, other.number) < std::tie(at, number); }
  };

  void After(absl::Duration delay, std::function<void()> run) {
    events_.push({now_ + delay, next_event_++, std::move(run)});
  }
  double Uniform() { return std::uniform_real_distribution<>()(random_); }

  const SimulatedServer::Outage* OutageAt(const Server& server, absl::Time time) const;
  absl::Duration ServiceTime(const SimulatedServer& description);

  // The network.
  void Connect(int id);
  void Disconnect(int id);
  void Send(const Scheduler::Assignment& want);
  void Cancel(const Scheduler::Assignment& want);

  // A server.
  void Work(int id);
  void Finish(int id, uint64_t connection, uint64_t life, const SpanId& span, absl::Duration queued);
  void Kill(int id);

  // The client.
  void Tick();
  void NeedMore();
  void Assign();
  void Deliver(int id, uint64_t connection, const SpanId& span, absl::Duration queued);
  void Consume();
  absl::Duration Ideal() const;

  const Simulation simulation_;
  std::mt19937_64 random_;
  Scheduler scheduler_;
  std::vector<Server> servers_;
  std::priority_queue<Event> events_;
  uint64_t next_event_ = 0;
  absl::Time now_ = absl::UnixEpoch();

  uint64_t needed_ = 0, consumed_ = 0;
  std::set<uint64_t> here_;
  absl::Time waiting_since_ = absl::UnixEpoch();
  bool consuming_ = false;
  Simulated result_;
};

const SimulatedServer::Outage* World::OutageAt(const Server& server, absl::Time time) const {
  for (const auto& outage : server.description.outages)
    if (time - absl::UnixEpoch() >= outage.from && time - absl::UnixEpoch() < outage.until) return &outage;
  return nullptr;
}

absl::Duration World::ServiceTime(const SimulatedServer& description) {
  const double factor = std::exp(std::normal_distribution<>(0, description.sigma)(random_));
  const bool in_tail = Uniform() < description.tail;
  return description.service * (factor * (in_tail ? description.tail_factor : 1));
}

// ---- the network ----

void World::Connect(int id) {
  Server& server = servers_[id];
  const auto* outage = OutageAt(server, now_);
  if (outage == nullptr) {
    After(server.description.round_trip, [this, id, connection = server.connection] {
      Server& back = servers_[id];
      if (back.connection != connection || back.connected || OutageAt(back, now_) != nullptr) return Disconnect(id);
      back.connected = true;
      back.connected_at = now_;
      scheduler_.AddServer(id, {.parallelism = back.description.parallelism,
                                .caches = back.description.caches,
                                .name = static_cast<uint64_t>(id)});
      Assign();
    });
    return;
  }
  if (outage->silent && absl::UnixEpoch() + outage->until < now_ + kOpenTimeout)
    return After(absl::UnixEpoch() + outage->until - now_, [this, id] { Connect(id); });
  After(outage->silent ? kOpenTimeout : server.description.round_trip, [this, id] { Disconnect(id); });
}

// The client's end of a connection, or of an attempt.
void World::Disconnect(int id) {
  Server& server = servers_[id];
  const absl::Duration served = server.connected ? now_ - server.connected_at : absl::ZeroDuration();
  scheduler_.RemoveServer(id);
  server.connected = false;
  ++server.connection;
  server.queue.clear();
  After(server.backoff.Pause(served, Uniform()), [this, id] { Connect(id); });
  Assign();
}

void World::Send(const Scheduler::Assignment& want) {
  result_.trace = MixAll({result_.trace, static_cast<uint64_t>(want.server), want.span.start,
                          static_cast<uint64_t>(absl::ToUnixNanos(now_))});
  if (Uniform() < simulation_.lost) return;
  Server& server = servers_[want.server];
  After(server.description.round_trip / 2, [this, id = want.server, span = want.span, connection = server.connection] {
    Server& there = servers_[id];
    if (there.connection != connection) return;
    there.queue.push_back({span, now_});
    Work(id);
  });
}

void World::Cancel(const Scheduler::Assignment& want) {
  Server& server = servers_[want.server];
  After(server.description.round_trip / 2, [this, id = want.server, span = want.span, connection = server.connection] {
    Server& there = servers_[id];
    if (there.connection != connection) return;
    std::erase_if(there.queue, [&](const Want& queued) { return queued.span == span; });
  });
}

// ---- a server ----

void World::Work(int id) {
  Server& server = servers_[id];
  if (const auto* outage = OutageAt(server, now_)) {
    if (outage->silent) After(absl::UnixEpoch() + outage->until - now_, [this, id] { Work(id); });
    return;
  }
  while (server.busy < server.description.parallelism && !server.queue.empty()) {
    const Want want = server.queue.front();
    server.queue.pop_front();
    ++server.busy;
    After(ServiceTime(server.description),
          [this, id, connection = server.connection, life = server.life, span = want.span, queued = now_ - want.since] {
            Finish(id, connection, life, span, queued);
          });
  }
}

void World::Finish(int id, uint64_t connection, uint64_t life, const SpanId& span, absl::Duration queued) {
  Server& server = servers_[id];
  if (server.life != life) return;
  if (const auto* outage = OutageAt(server, now_); outage != nullptr && outage->silent) {
    After(absl::UnixEpoch() + outage->until - now_, [=, this] { Finish(id, connection, life, span, queued); });
    return;
  }
  --server.busy;
  ++result_.made;
  if (server.connection == connection && Uniform() >= simulation_.lost)
    After(server.description.round_trip / 2,
          [this, id, connection, span, queued] { Deliver(id, connection, span, queued); });
  Work(id);
}

void World::Kill(int id) {
  Server& server = servers_[id];
  ++server.life;
  server.busy = 0;
  server.queue.clear();
  if (!server.connected) return;
  After(server.description.round_trip / 2, [this, id, connection = server.connection] {
    if (servers_[id].connection == connection) Disconnect(id);
  });
}

// ---- the client ----

void World::Assign() {
  for (const auto& want : scheduler_.Assign(now_)) Send(want);
}

void World::Tick() {
  const Scheduler::Overdue overdue = scheduler_.Expire(now_);
  for (const auto& lost : overdue.lost) Cancel(lost);
  for (int id : overdue.hung) Disconnect(id);
  for (const auto& want : scheduler_.Hedge(now_)) Send(want);
  Assign();
  After(kTick, [this] { Tick(); });
}

void World::NeedMore() {
  for (; needed_ < simulation_.spans && needed_ < consumed_ + simulation_.look_ahead; ++needed_)
    scheduler_.Need({0, needed_, 1}, kSpanBytes);
  Assign();
}

void World::Deliver(int id, uint64_t connection, const SpanId& span, absl::Duration queued) {
  if (servers_[id].connection != connection) return;
  const auto ticket = scheduler_.Arrived(id, span);
  if (!ticket.has_value()) return;
  for (const auto& other : scheduler_.Done(id, *ticket, now_, queued)) Cancel(other);
  result_.exactly_once = result_.exactly_once && span.start >= consumed_ && here_.insert(span.start).second;
  ++result_.by_server[id];
  Consume();
  Assign();
}

void World::Consume() {
  while (!consuming_ && here_.erase(consumed_) > 0) {
    result_.waits.push_back(now_ - waiting_since_);
    ++consumed_;
    waiting_since_ = now_ + simulation_.consume;
    consuming_ = simulation_.consume > absl::ZeroDuration();
    if (consuming_)
      After(simulation_.consume, [this] {
        consuming_ = false;
        Consume();
      });
    NeedMore();
  }
}

// When all servers, while they are up, would have made all spans.
absl::Duration World::Ideal() const {
  std::set<absl::Duration> times = {absl::ZeroDuration()};
  for (const Server& server : servers_)
    for (const auto& outage : server.description.outages) times.insert({outage.from, outage.until});
  double left = static_cast<double>(simulation_.spans);
  for (auto time = times.begin();; ++time) {
    double rate = 0;
    for (const Server& server : servers_) {
      const SimulatedServer& it = server.description;
      if (OutageAt(server, absl::UnixEpoch() + *time) != nullptr) continue;
      const double mean = std::exp(it.sigma * it.sigma / 2) * (1 + it.tail * (it.tail_factor - 1));
      rate += it.parallelism / (absl::ToDoubleSeconds(it.service) * mean);
    }
    if (simulation_.consume > absl::ZeroDuration())
      rate = std::min(rate, 1 / absl::ToDoubleSeconds(simulation_.consume));
    const absl::Duration needed = rate > 0 ? absl::Seconds(left / rate) : absl::InfiniteDuration();
    const auto next = std::next(time);
    if (next == times.end() || *time + needed <= *next) return *time + needed;
    left -= absl::ToDoubleSeconds(*next - *time) * rate;
  }
}

Simulated World::Run() {
  for (int id = 0; id < std::ssize(servers_); ++id) {
    for (const auto& outage : servers_[id].description.outages)
      if (!outage.silent) After(outage.from, [this, id] { Kill(id); });
    Connect(id);
  }
  NeedMore();
  Tick();
  while (consumed_ < simulation_.spans) {
    STOKER_CHECK(!events_.empty());
    const Event event = events_.top();
    events_.pop();
    now_ = event.at;
    event.run();
  }
  result_.elapsed = now_ - absl::UnixEpoch();
  result_.ideal = Ideal();
  result_.hedged = scheduler_.hedged();
  return std::move(result_);
}

}  // namespace

Simulated Simulate(const Simulation& simulation) { return World(simulation).Run(); }

}  // namespace stoker
