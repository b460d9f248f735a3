#include "tests/support/hostile_clients.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "common/check.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"

namespace stoker {
namespace {

constexpr int kMessagesOfAConnection = 1000;
constexpr absl::string_view kHttp2Greeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::unique_ptr<v1::DataService::Stub> NewConnection(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return v1::DataService::NewStub(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
}

v1::StreamRequest Open(const std::string& dataset) {
  v1::StreamRequest request;
  request.mutable_open()->set_dataset(dataset);
  request.mutable_open()->mutable_pipeline();
  return request;
}

v1::StreamRequest HugeWant(std::mt19937_64& random) {
  v1::StreamRequest request;
  request.mutable_want()->set_epoch(random());
  request.mutable_want()->set_start(random() | uint64_t{1} << 63);
  request.mutable_want()->set_count(static_cast<uint32_t>(random()));
  return request;
}

v1::StreamRequest Cancel(std::mt19937_64& random) {
  v1::StreamRequest request;
  request.mutable_cancel()->set_epoch(random() % 4);
  request.mutable_cancel()->set_start(random() % 1'000'000);
  request.mutable_cancel()->set_count(static_cast<uint32_t>(random()));
  return request;
}

v1::StreamRequest Nonsense(std::mt19937_64& random) {
  switch (random() % 5) {
    case 0: return {};
    case 1: return Open("\x01\x7f/../..");
    case 2: return Open(std::string(60'000, 'x'));
    case 3: return HugeWant(random);
    default: return Cancel(random);
  }
}

}  // namespace

StalledReader::StalledReader(const std::string& address, const std::string& dataset, int wants)
    : stub_(NewConnection(address)), stream_(stub_->Stream(&context_)) {
  v1::StreamResponse response;
  opened_ = stream_->Write(Open(dataset)) && stream_->Read(&response) && response.has_opened();
  v1::StreamRequest want;
  want.mutable_want()->set_count(1);
  for (int i = 0; i < wants; ++i) {
    want.mutable_want()->set_start(i);
    if (!stream_->Write(want)) return;  // Refused: for want of memory, say.
  }
}

StalledReader::~StalledReader() { context_.TryCancel(); }

HostileClient::HostileClient(std::string address, std::string dataset, Kind kind, double messages_per_second,
                             uint64_t seed)
    : address_(std::move(address)),
      dataset_(std::move(dataset)),
      kind_(kind),
      messages_per_second_(messages_per_second),
      seed_(seed),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

HostileClient::~HostileClient() = default;

void HostileClient::Run(const std::stop_token& stop) {
  for (uint64_t connection = 0; !stop.stop_requested(); ++connection) {
    if (kind_ == Kind::kBytes) {
      RunBytes(stop, seed_ + connection);
    } else {
      RunStream(stop, seed_ + connection);
    }
  }
}

void HostileClient::Pace() const { absl::SleepFor(absl::Seconds(1 / messages_per_second_)); }

void HostileClient::RunStream(const std::stop_token& stop, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto stub = NewConnection(address_);
  grpc::ClientContext context;
  const auto stream = stub->Stream(&context);
  if (kind_ != Kind::kNonsense) stream->Write(Open(dataset_));
  for (int i = 0; i < kMessagesOfAConnection && !stop.stop_requested(); ++i) {
    Pace();
    const v1::StreamRequest request = kind_ == Kind::kHugeWants ? HugeWant(random)
                                      : kind_ == Kind::kCancels ? Cancel(random)
                                                                : Nonsense(random);
    if (!stream->Write(request)) break;
    ++messages_;
  }
  context.TryCancel();
}

void HostileClient::RunBytes(const std::stop_token& stop, uint64_t seed) {
  std::mt19937_64 random(seed);
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  int port = 0;
  STOKER_CHECK(absl::SimpleAtoi(address_.substr(address_.rfind(':') + 1), &port));
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      send(connection, kHttp2Greeting.data(), kHttp2Greeting.size(), MSG_NOSIGNAL) > 0) {
    for (int i = 0; i < kMessagesOfAConnection && !stop.stop_requested(); ++i) {
      Pace();
      uint64_t bytes[32];
      for (uint64_t& word : bytes) word = random();
      if (send(connection, bytes, sizeof bytes, MSG_NOSIGNAL) <= 0) break;
      ++messages_;
    }
  }
  close(connection);
}

}  // namespace stoker
