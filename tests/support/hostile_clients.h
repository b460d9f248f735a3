#ifndef STOKER_TESTS_SUPPORT_HOSTILE_CLIENTS_H_
#define STOKER_TESTS_SUPPORT_HOSTILE_CLIENTS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "grpcpp/client_context.h"
#include "grpcpp/support/sync_stream.h"
#include "stoker/v1/data_service.grpc.pb.h"

namespace stoker {

// A client with a connection of its own that wants spans of one sample of a server's raw data and never reads one.
class StalledReader {
 public:
  StalledReader(const std::string& address, const std::string& dataset, int wants);
  StalledReader(const StalledReader&) = delete;
  StalledReader& operator=(const StalledReader&) = delete;
  ~StalledReader();

  // Whether the server took it.
  bool opened() const { return opened_; }

 private:
  std::unique_ptr<v1::DataService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> stream_;
  bool opened_ = false;
};

// A client that does one kind of harm, on new connections again and again, until it is destroyed.
class HostileClient {
 public:
  enum class Kind {
    kHugeWants,  // Spans of up to 2^32 samples, at the end of 2^64.
    kCancels,    // Of what it never asked for.
    kNonsense,   // Requests in no order: wants before open, open twice, empty ones, names with control characters.
    kBytes,      // Random ones after HTTP/2's greeting.
  };
  static constexpr int kKinds = 4;

  // Sends about so many messages per second; one seed gives the same ones.
  HostileClient(std::string address, std::string dataset, Kind kind, double messages_per_second, uint64_t seed);
  ~HostileClient();

  // That it could send.
  uint64_t messages() const { return messages_; }

 private:
  void Run(const std::stop_token& stop);
  void RunStream(const std::stop_token& stop, uint64_t seed);
  void RunBytes(const std::stop_token& stop, uint64_t seed);
  void Pace() const;

  const std::string address_, dataset_;
  const Kind kind_;
  const double messages_per_second_;
  const uint64_t seed_;
  std::atomic<uint64_t> messages_ = 0;
  std::jthread thread_;  // Last: ends before the rest goes.
};

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_HOSTILE_CLIENTS_H_
