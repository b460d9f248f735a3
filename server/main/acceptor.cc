#include "server/main/acceptor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"

namespace stoker {
namespace {

constexpr int kConnectionsAtOnce = 256;  // until the acceptor looks at its other duties
constexpr absl::Duration kLogPeriod = absl::Seconds(10);

// Ends a connection with a reset, so that nothing of it stays with the system.
void Reset(int descriptor) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(descriptor);
}

}  // namespace

Acceptor::Acceptor(ListeningSockets sockets, Options options)
    : sockets_(std::move(sockets)),
      options_(std::move(options)),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      being_taken_(options_.take.size(), -1),
      table_(options_.limits) {
  for (size_t i = 0; i < options_.take.size(); ++i) takers_.emplace_back([this, i] { HandOn(i); });
  thread_ = std::thread([this] { Run(); });
}

Acceptor::~Acceptor() {
  stopped_ = true;
  eventfd_write(stop_.get(), 1);
  thread_.join();
  {
    absl::MutexLock lock(&mutex_);
    for (const int descriptor : accepted_) Reset(descriptor);
    accepted_.clear();
    // One that sends without end holds its thread up no longer.
    for (const int descriptor : being_taken_)
      if (descriptor >= 0) shutdown(descriptor, SHUT_RDWR);
  }
  for (std::thread& taker : takers_) taker.join();
}

void Acceptor::HandOn(size_t taker) {
  absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(
        +[](Acceptor* self)
             ABSL_EXCLUSIVE_LOCKS_REQUIRED(self->mutex_) { return self->stopped_ || !self->accepted_.empty(); },
        this));
    if (accepted_.empty()) return;
    const int descriptor = being_taken_[taker] = accepted_.front();
    accepted_.pop_front();
    mutex_.Unlock();
    options_.take[taker](descriptor);
    mutex_.Lock();
    being_taken_[taker] = -1;
  }
}

void Acceptor::Run() {
  using Clock = std::chrono::steady_clock;
  auto turn_at = Clock::now();
  bool paused = false;
  while (!stopped_) {
    const auto now = Clock::now();
    if (now >= turn_at) {
      Turn();
      turn_at = now + absl::ToChronoNanoseconds(kTurn);
    }
    AwaitConnections(paused, absl::FromChrono(turn_at - now));
    if (!stopped_) paused = !AcceptAll();
  }
}

// Waits until a connection does, at most `at_most`. Where it is paused, it waits for time alone.
void Acceptor::AwaitConnections(bool paused, absl::Duration at_most) {
  std::vector<pollfd> awaited = {{.fd = stop_.get(), .events = POLLIN}};
  if (paused) {
    at_most = std::min(at_most, kRetryAfter);
  } else {
    for (const OwnedFd& socket : sockets_.sockets()) awaited.push_back({.fd = socket.get(), .events = POLLIN});
  }
  poll(awaited.data(), awaited.size(), std::max<int>(1, static_cast<int>(absl::ToInt64Milliseconds(at_most))));
}

// Accepts what waits. Returns false if the process has no descriptor left for it.
bool Acceptor::AcceptAll() {
  for (const OwnedFd& socket : sockets_.sockets()) {
    Accepted accepted = Accepted::kOne;
    for (int i = 0; i < kConnectionsAtOnce && accepted == Accepted::kOne; ++i) accepted = AcceptOne(socket.get());
    if (accepted == Accepted::kNoDescriptor) return false;
  }
  return true;
}

Acceptor::Accepted Acceptor::AcceptOne(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  const int connection = accept4(socket, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (connection < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Accepted::kNone;
    // Others, such as ECONNABORTED, are about one connection, and the next may be good.
    const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (exhausted) refused_last_ = absl::StrCat("waiting for a free file descriptor; see `ulimit -n`");
    return exhausted ? Accepted::kNoDescriptor : Accepted::kOne;
  }
  const std::string peer = PeerOf(&address);
  const auto verdict = table_.Take(connection, peer);
  if (verdict == ConnectionTable::Verdict::kTaken) {
    absl::MutexLock lock(&mutex_);
    accepted_.push_back(connection);
    return Accepted::kOne;
  }
  refused_last_ = verdict == ConnectionTable::Verdict::kTooMany
                      ? absl::StrCat("limits.connections is ", options_.limits.connections)
                      : absl::StrCat("limits.connections_per_peer is ", options_.limits.connections_per_peer,
                                     ", and all of ", peer, " are taken");
  ++refused_;
  Reset(connection);
  return Accepted::kOne;
}

void Acceptor::Turn() {
  const size_t ended = table_.Sweep();
  connections_ = table_.size();
  since_logged_ += kTurn;
  if (!refused_last_.empty() && since_logged_ >= kLogPeriod) {
    spdlog::warn("connections: {} refused, {} open: {}", refused_ - refused_before_, table_.size(), refused_last_);
    refused_before_ = refused_;
    refused_last_.clear();
    since_logged_ = absl::ZeroDuration();
  }
  if (options_.each_turn) options_.each_turn(ended);
}

}  // namespace stoker
