#include "client/receive/name_resolver.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/receive/resolve.h"
#include "common/status_macros.h"
#include "common/time/steady_time.h"

namespace stoker {
namespace {

NameResolver::Addresses ResolveName(const std::string& server) {
  STOKER_ASSIGN_OR_RETURN(const ServerName name, ParseServerName(server));
  return Resolve(name);
}

// Whether a name is its own address, which needs no thread.
bool NeedsNoName(const std::string& server) {
  const auto name = ParseServerName(server);
  return name.ok() && !name->all_addresses && !name->is_list;
}

}  // namespace

struct NameResolver::State {
  // What is known of one name.
  struct Name {
    bool under_way = false;  // It is in `waiting`, or a thread resolves it.
    std::optional<Addresses> latest;
  };

  bool AnyUnderWay(const std::vector<std::string>& servers) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return std::any_of(servers.begin(), servers.end(), [this](const std::string& server) {
      mutex.AssertHeld();
      const auto found = names.find(server);
      return found != names.end() && found->second.under_way;
    });
  }

  // Resolves names until none waits.
  void Run() ABSL_LOCKS_EXCLUDED(mutex) {
    absl::MutexLock lock(&mutex);
    for (; !waiting.empty(); changed.SignalAll()) {
      const std::string server = std::move(waiting.front());
      waiting.pop_front();
      mutex.Unlock();
      Addresses addresses = resolve(server);
      mutex.Lock();
      Name& name = names[server];
      name.latest = std::move(addresses);
      name.under_way = false;
      ++finished;
    }
    --threads;
  }

  explicit State(Function function) : resolve(std::move(function)) {}

  const Function resolve;
  mutable absl::Mutex mutex;
  absl::CondVar changed;
  std::map<std::string, Name> names ABSL_GUARDED_BY(mutex);
  std::deque<std::string> waiting ABSL_GUARDED_BY(mutex);
  int threads ABSL_GUARDED_BY(mutex) = 0;
  uint64_t finished ABSL_GUARDED_BY(mutex) = 0;
};

NameResolver::NameResolver(Function resolve)
    : state_(std::make_shared<State>(resolve == nullptr ? ResolveName : std::move(resolve))) {}

NameResolver::~NameResolver() {
  absl::MutexLock lock(&state_->mutex);
  state_->waiting.clear();
}

void NameResolver::Begin(const std::vector<std::string>& servers) {
  absl::MutexLock lock(&state_->mutex);
  for (const std::string& server : servers) {
    State::Name& name = state_->names[server];
    if (NeedsNoName(server)) {
      if (!name.latest.has_value()) name.latest = ResolveName(server), ++state_->finished;
      continue;
    }
    if (std::exchange(name.under_way, true)) continue;
    state_->waiting.push_back(server);
    if (state_->threads == kMostThreads) continue;
    ++state_->threads;
    std::thread([state = state_] { state->Run(); }).detach();
  }
}

void NameResolver::Await(const std::vector<std::string>& servers, absl::Duration patience) {
  const absl::Time until = SteadyNow() + patience;
  absl::MutexLock lock(&state_->mutex);
  while (state_->AnyUnderWay(servers) && SteadyNow() < until)
    state_->changed.WaitWithTimeout(&state_->mutex, until - SteadyNow());
}

std::vector<NameResolver::Addresses> NameResolver::Latest(const std::vector<std::string>& servers) const {
  std::vector<Addresses> all;
  absl::MutexLock lock(&state_->mutex);
  for (const std::string& server : servers) {
    const auto found = state_->names.find(server);
    const bool known = found != state_->names.end() && found->second.latest.has_value();
    all.push_back(known ? *found->second.latest : absl::UnavailableError("the name is still being looked up"));
  }
  return all;
}

uint64_t NameResolver::finished() const {
  absl::MutexLock lock(&state_->mutex);
  return state_->finished;
}

}  // namespace stoker
