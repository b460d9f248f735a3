#ifndef STOKER_TESTS_SUPPORT_TCP_PROXY_H_
#define STOKER_TESTS_SUPPORT_TCP_PROXY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"

namespace stoker {

// A port of the loopback that passes on what it gets, badly if it is told to. Thread-safe.
class TcpProxy {
 public:
  // What happens to bytes, from now on, on all connections, present and future.
  struct Faults {
    bool hold_requests = false;  // Client to server: kept back until healed, as by a network that is cut off.
    bool hold_answers = false;   // Server to client, likewise.
    absl::Duration delay;        // Of every piece, both ways.
    double corrupt = 0;          // Of the bytes from the server, so many are changed.
  };
  // What it did.
  struct Counts {
    std::atomic<uint64_t> connections = 0, corrupted = 0;
  };

  // Listens on a free port, for a server at `target`: "127.0.0.1:port".
  explicit TcpProxy(std::string target);
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;
  ~TcpProxy();

  const std::string& address() const { return address_; }
  const Counts& counts() const { return counts_; }

  // Where new connections go from now on.
  void SetTarget(const std::string& target);

  void Set(const Faults& faults);
  void Heal() { Set({}); }

  // Resets all connections.
  void Reset();

  // Passes nothing on any more over the connections that there are.
  void Forsake();

 private:
  struct State;

  Counts counts_;
  const std::unique_ptr<State> state_;
  std::string address_;
};

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_TCP_PROXY_H_
