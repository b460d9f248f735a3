#include "client/receive/transport.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/receive/greeting.h"
#include "client/receive/resolve.h"
#include "common/fields/schema.h"
#include "common/status_macros.h"
#include "common/time/steady_time.h"
#include "common/wire/grpc_status.h"
#include "grpc/compression.h"
#include "grpc/support/time.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "openssl/crypto.h"
#include "stoker/v1/data_service.grpc.pb.h"

namespace stoker {
namespace {

// A connection that is silent for so long is pinged, and given up if no answer comes: routers and hosts that vanish say
// nothing.
constexpr int kKeepaliveMs = 30'000, kKeepaliveTimeoutMs = 10'000;

// The pauses between attempts to connect, well below gRPC's 1 to 120 s: a server that restarts is soon used again.
constexpr int kFirstBackoffMs = 100, kMostBackoffMs = 2'000;

// The largest message: a span is one sample of the largest size, or as many samples as fit in that.
constexpr int kMaxMessage = static_cast<int>(kMaxSampleBytes + kMaxSpanHeaderBytes + 64);

// The largest answer to all that is no stream. Servers answer page by page, with some 256 KiB each; once parsed, the
// smallest fields take some eighty times their bytes.
constexpr int kMaxAnswer = 1 << 20;

// What a server's headers and trailers may take, an error's message included.
constexpr int kMaxMetadata = 16 << 10;

// gRPC's own limits of each method's answers (https://github.com/grpc/grpc/blob/master/doc/service_config.md): a
// longer one is refused before it is parsed. A method that is named alone goes before its service.
std::string ServiceConfig() {
  return absl::StrCat(R"({"methodConfig":[{"name":[{"service":"stoker.v1.DataService"}],"maxResponseMessageBytes":)",
                      kMaxAnswer, R"(},{"name":[{"service":"stoker.v1.DataService","method":"Stream"}],)",
                      R"("maxResponseMessageBytes":)", kMaxMessage, "}]}");
}

// gRPC's threads may be in the middle of a handshake when the program ends, and they are not waited for. OpenSSL would
// clean up below them at exit, so it is told not to, before anything else can use it.
[[maybe_unused]] const int kOpenSslOutlivesThreads = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);

grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessage);
  arguments.SetServiceConfigJSON(ServiceConfig());
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);  // No name server's word replaces it.
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadata);
  // A server is not asked to compress, and what it compresses all the same is not inflated: a thousandth of a bomb's
  // size would pass the limits above. No parser takes it for a message then.
  arguments.SetInt(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 << GRPC_COMPRESS_NONE);
  arguments.SetInt(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  // Each channel gets a connection of its own. By default a process has one to each server, and servers allow few
  // streams on one.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstBackoffMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kFirstBackoffMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMostBackoffMs);
  return arguments;
}

// What gRPC makes of an answer that it does not take, in plain words; any other status as it is.
absl::Status PlainRefusal(const absl::Status& status) {
  const std::string message(status.message());
  if (absl::IsResourceExhausted(status) && absl::StrContains(message, "larger than max"))
    return absl::InternalError(absl::StrCat("its answer exceeds ", kMaxAnswer, " bytes, which no stokerd sends"));
  if (absl::IsUnimplemented(status) && absl::StrContains(message, "No message returned"))
    return absl::InternalError("its answer is not what a stokerd sends: it does not parse");
  return status;
}

}  // namespace

Transport::Transport(std::shared_ptr<Security> security)
    : security_(std::move(security)), thread_([this] {
        void* tag = nullptr;
        bool ok = false;
        while (queue_.Next(&tag, &ok)) {
          auto* event = static_cast<SpanStream::Tag*>(tag);
          event->stream->On(event->event, ok);
        }
      }) {}

Transport::~Transport() {
  queue_.Shutdown();
  thread_.join();
}

std::shared_ptr<grpc::Channel> Transport::ChannelTo(const std::string& address, int connection) {
  const auto tls = security_->tls();
  std::shared_ptr<grpc::Channel> replaced;  // It ends after the lock is released, or when its last stream does.
  absl::MutexLock lock(&mutex_);
  Connection& known = connections_[{address, connection}];
  if (known.channel != nullptr && known.security == tls->number) return known.channel;
  grpc::ChannelArguments arguments = Arguments();
  if (!security_->server_name().empty()) arguments.SetSslTargetNameOverride(security_->server_name());
  const auto credentials = security_->uses_tls() ? grpc::SslCredentials({tls->roots, tls->key, tls->certificate})
                                                 : grpc::InsecureChannelCredentials();
  replaced = std::exchange(known.channel, grpc::CreateCustomChannel(address, credentials, arguments));
  known.security = tls->number;
  return known.channel;
}

Obstacle Transport::FindObstacle(const std::string& address, absl::Duration patience) const {
  return stoker::FindObstacle(address, patience, [&](const OpenSocket& open, absl::Time deadline) {
    std::string name = security_->server_name();
    if (name.empty()) name = ParseServerName(address)->host;
    if (name.size() > 2 && name.front() == '[') name = name.substr(1, name.size() - 2);
    return FindGreetingObstacle(open, *security_->tls(), security_->uses_tls(), name.empty() ? "localhost" : name,
                                deadline);
  });
}

template <typename Request, typename Response>
absl::StatusOr<Response> Transport::Ask(Method<Request, Response> method, const std::string& address,
                                        const Request& request, absl::Time deadline, Call& call) {
  security_->Refresh();
  STOKER_ASSIGN_OR_RETURN(const auto token, security_->TokenFor(address));
  if (token.has_value()) AddToken(call.context_, *token);
  // gRPC adds a span of time to its own clock, which nobody sets.
  call.context_.set_deadline(gpr_time_from_micros(absl::ToInt64Microseconds(deadline - SteadyNow()), GPR_TIMESPAN));
  Response response;
  const auto stub = v1::DataService::NewStub(ChannelTo(address));
  STOKER_RETURN_IF_ERROR(PlainRefusal(FromGrpc((stub.get()->*method)(&call.context_, request, &response))));
  return response;
}

absl::StatusOr<v1::ListDatasetsResponse> Transport::ListDatasets(const std::string& address, absl::Time deadline,
                                                                 Call& call) {
  return Ask(&v1::DataService::Stub::ListDatasets, address, v1::ListDatasetsRequest(), deadline, call);
}

absl::StatusOr<v1::StatusResponse> Transport::Status(const std::string& address, absl::Time deadline, Call& call) {
  return Ask(&v1::DataService::Stub::Status, address, v1::StatusRequest(), deadline, call);
}

absl::StatusOr<v1::ListClassesResponse> Transport::ListClasses(const std::string& address,
                                                               const v1::ListClassesRequest& request,
                                                               absl::Time deadline, Call& call) {
  return Ask(&v1::DataService::Stub::ListClasses, address, request, deadline, call);
}

absl::StatusOr<v1::ListSamplesResponse> Transport::ListSamples(const std::string& address,
                                                               const v1::ListSamplesRequest& request,
                                                               absl::Time deadline, Call& call) {
  return Ask(&v1::DataService::Stub::ListSamples, address, request, deadline, call);
}

absl::StatusOr<v1::DescribeResponse> Transport::Describe(const std::string& address, const v1::DescribeRequest& request,
                                                         absl::Time deadline, Call& call) {
  return Ask(&v1::DataService::Stub::Describe, address, request, deadline, call);
}

std::shared_ptr<SpanStream> Transport::Open(const std::string& address, int connection, const v1::Open& open,
                                            std::shared_ptr<SpanStream::Handler> handler) {
  auto stream = std::make_shared<SpanStream>(ChannelTo(address, connection), &queue_, std::move(handler));
  stream->Start(open, security_->TokenFor(address));
  return stream;
}

void Transport::Drop(const std::string& address, int connection, const SpanStream& stream) {
  std::shared_ptr<grpc::Channel> dropped;  // It ends after the lock is released.
  absl::MutexLock lock(&mutex_);
  const auto found = connections_.find({address, connection});
  if (found == connections_.end() || found->second.channel != stream.channel_) return;
  dropped = std::move(found->second.channel);
  connections_.erase(found);
}

}  // namespace stoker
