#include "tests/support/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <list>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "common/check.h"

namespace stoker {
namespace {

sockaddr_in LoopbackOf(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int PortOf(const std::string& address) {
  int port = 0;
  STOKER_CHECK(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  return port;
}

bool SendAll(int socket, const char* bytes, ssize_t count) {
  while (count > 0) {
    const ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    count -= sent;
  }
  return true;
}

}  // namespace

struct TcpProxy::State {
  // One client's connection and ours to the server. Closed when both directions are done with it.
  struct Pair {
    int client = -1, server = -1;
    std::atomic<bool> forsaken = false;
    ~Pair() {
      close(client);
      close(server);
    }
    void Shut() const {
      shutdown(client, SHUT_RDWR);
      shutdown(server, SHUT_RDWR);
    }
  };

  explicit State(Counts& counts) : counts(counts) {}

  Counts& counts;
  int listener = -1;

  absl::Mutex mutex;
  absl::CondVar changed;
  std::string target ABSL_GUARDED_BY(mutex);
  Faults faults ABSL_GUARDED_BY(mutex);
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  std::list<std::weak_ptr<Pair>> pairs ABSL_GUARDED_BY(mutex);
  std::vector<std::thread> pumps;  // The accepting thread's, until that has ended.
  std::thread accepting;

  void Accept();
  void Pump(const std::shared_ptr<Pair>& pair, bool answers, uint32_t seed);
  std::optional<Faults> AwaitPassage(const Pair& pair, bool answers);  // None: it is over.
  void Corrupt(std::span<char> piece, double part, std::mt19937& random);
  void ShutAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    for (const auto& weak : pairs)
      if (const auto pair = weak.lock()) pair->Shut();
  }
};

TcpProxy::TcpProxy(std::string target) : state_(std::make_unique<State>(counts_)) {
  SetTarget(target);
  state_->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = LoopbackOf(0);
  STOKER_CHECK(bind(state_->listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  STOKER_CHECK(listen(state_->listener, 64) == 0);
  socklen_t size = sizeof address;
  getsockname(state_->listener, reinterpret_cast<sockaddr*>(&address), &size);
  address_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  state_->accepting = std::thread([state = state_.get()] { state->Accept(); });
}

TcpProxy::~TcpProxy() {
  {
    absl::MutexLock lock(&state_->mutex);
    state_->stopping = true;
    state_->ShutAll();
    state_->changed.SignalAll();
  }
  shutdown(state_->listener, SHUT_RDWR);
  state_->accepting.join();
  for (std::thread& pump : state_->pumps) pump.join();
  close(state_->listener);
}

void TcpProxy::SetTarget(const std::string& target) {
  absl::MutexLock lock(&state_->mutex);
  state_->target = target;
}

void TcpProxy::Set(const Faults& faults) {
  absl::MutexLock lock(&state_->mutex);
  state_->faults = faults;
  state_->changed.SignalAll();
}

void TcpProxy::Reset() {
  absl::MutexLock lock(&state_->mutex);
  state_->ShutAll();
}

void TcpProxy::Forsake() {
  absl::MutexLock lock(&state_->mutex);
  for (const auto& weak : state_->pairs)
    if (const auto pair = weak.lock()) pair->forsaken = true;
}

void TcpProxy::State::Accept() {
  while (true) {
    const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    absl::MutexLock lock(&mutex);
    if (client < 0 || stopping) {
      if (client >= 0) close(client);
      return;
    }
    auto pair = std::make_shared<Pair>();
    pair->client = client;
    pair->server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    for (int end : {pair->client, pair->server}) setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const sockaddr_in address = LoopbackOf(PortOf(target));
    if (connect(pair->server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) continue;
    std::erase_if(pairs, [](const auto& known) { return known.expired(); });
    pairs.push_back(pair);
    ++counts.connections;
    for (bool answers : {false, true})
      pumps.emplace_back(
          [this, pair, answers, seed = static_cast<uint32_t>(pumps.size())] { Pump(pair, answers, seed); });
  }
}

std::optional<TcpProxy::Faults> TcpProxy::State::AwaitPassage(const Pair& pair, bool answers) {
  absl::MutexLock lock(&mutex);
  while ((pair.forsaken || (answers ? faults.hold_answers : faults.hold_requests)) && !stopping) changed.Wait(&mutex);
  if (stopping) return std::nullopt;
  return faults;
}

void TcpProxy::State::Corrupt(std::span<char> piece, double part, std::mt19937& random) {
  std::geometric_distribution<size_t> gap(part);
  for (size_t at = gap(random); at < piece.size(); at += 1 + gap(random)) {
    piece[at] ^= 0x5a;
    ++counts.corrupted;
  }
}

void TcpProxy::State::Pump(const std::shared_ptr<Pair>& pair, bool answers, uint32_t seed) {
  const int from = answers ? pair->server : pair->client, to = answers ? pair->client : pair->server;
  std::mt19937 random(seed);
  std::vector<char> piece(1 << 16);
  while (true) {
    const ssize_t count = recv(from, piece.data(), piece.size(), 0);
    if (count <= 0) break;
    const std::optional<Faults> now = AwaitPassage(*pair, answers);
    if (!now.has_value()) break;
    if (answers && now->corrupt > 0) Corrupt(std::span(piece).first(count), now->corrupt, random);
    absl::SleepFor(now->delay);
    if (!SendAll(to, piece.data(), count)) break;
  }
  pair->Shut();
}

}  // namespace stoker
