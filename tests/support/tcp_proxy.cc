#include "tests/support/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <list>
#include <random>
#include <thread>

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
    ~Pair() {
      close(client);
      close(server);
    }
    void Shut() const {
      shutdown(client, SHUT_RDWR);
      shutdown(server, SHUT_RDWR);
    }
  };

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
  void Pump(const std::shared_ptr<Pair>& pair, bool answers);
  void ShutAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    for (const auto& weak : pairs)
      if (const auto pair = weak.lock()) pair->Shut();
  }
};

TcpProxy::TcpProxy(std::string target) : state_(std::make_unique<State>()) {
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
    for (bool answers : {false, true}) pumps.emplace_back([this, pair, answers] { Pump(pair, answers); });
  }
}

void TcpProxy::State::Pump(const std::shared_ptr<Pair>& pair, bool answers) {
  const int from = answers ? pair->server : pair->client, to = answers ? pair->client : pair->server;
  std::minstd_rand random;
  std::vector<char> piece(1 << 16);
  while (true) {
    const ssize_t count = recv(from, piece.data(), piece.size(), 0);
    if (count <= 0) break;
    absl::Duration delay;
    {
      absl::MutexLock lock(&mutex);
      while ((answers ? faults.hold_answers : faults.hold_requests) && !stopping) changed.Wait(&mutex);
      if (stopping) break;
      delay = faults.delay;
      if (answers && faults.corrupt > 0) {
        random.seed(static_cast<uint32_t>(faults.seed + random()));
        if (std::uniform_real_distribution<>()(random) < faults.corrupt) piece[random() % count] ^= 0x5a;
      }
    }
    if (delay > absl::ZeroDuration()) absl::SleepFor(delay);
    if (!SendAll(to, piece.data(), count)) break;
  }
  pair->Shut();
}

}  // namespace stoker
