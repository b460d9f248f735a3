#ifndef STOKER_CLIENT_RECEIVE_TRANSPORT_H_
#define STOKER_CLIENT_RECEIVE_TRANSPORT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/receive/obstacle.h"
#include "client/receive/security.h"
#include "client/receive/span_stream.h"
#include "grpcpp/channel.h"
#include "grpcpp/completion_queue.h"
#include "stoker/v1/data_service.grpc.pb.h"

namespace stoker {

// The connections to servers that all streams of a client share, and the thread that tells what the streams receive.
// Thread-safe. It must outlive the OnClosed of its streams.
class Transport {
 public:
  // One unary call, which another thread may end. It is used once.
  class Call {
   public:
    // Until the call's time is over it waits for a connection to open; or else it fails, with Unavailable, as soon as
    // an attempt to open one has failed.
    enum class Connect { kWait, kOnce };
    explicit Call(Connect connect) { context_.set_wait_for_ready(connect == Connect::kWait); }

    void Cancel() { context_.TryCancel(); }

   private:
    friend class Transport;
    grpc::ClientContext context_;
  };

  // Connects, and proves who this client is, as `security` says.
  explicit Transport(std::shared_ptr<Security> security = std::make_shared<Security>());
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  ~Transport();

  // These block for the answer, until `deadline` of SteadyNow(). The errors are the server's own, Unavailable where no
  // connection opens, DeadlineExceeded, or Cancelled after Call::Cancel; Internal where an answer exceeds 1 MiB or does
  // not parse.
  absl::StatusOr<v1::ListDatasetsResponse> ListDatasets(const std::string& address, absl::Time deadline, Call& call);
  absl::StatusOr<v1::DescribeResponse> Describe(const std::string& address, const v1::DescribeRequest& request,
                                                absl::Time deadline, Call& call);

  absl::StatusOr<v1::StatusResponse> Status(const std::string& address, absl::Time deadline, Call& call);
  absl::StatusOr<v1::ListClassesResponse> ListClasses(const std::string& address, const v1::ListClassesRequest& request,
                                                      absl::Time deadline, Call& call);
  absl::StatusOr<v1::ListSamplesResponse> ListSamples(const std::string& address, const v1::ListSamplesRequest& request,
                                                      absl::Time deadline, Call& call);

  // Why the server at `address`, as Resolve returns them, cannot be spoken to now, as of FindObstacle and
  // FindGreetingObstacle.
  Obstacle FindObstacle(const std::string& address, absl::Duration patience) const;

  // Reads files of certificates and tokens again that changed, for connections and streams from now on. Calls that
  // block do that by themselves. Blocks as the files' storage does.
  void RefreshSecurity() { security_->Refresh(); }

  // Begins a stream over one of the connections to a server, which are numbered from 0. `handler` is told what comes of
  // it on this transport's thread, perhaps before this returns. Never blocks.
  std::shared_ptr<SpanStream> Open(const std::string& address, int connection, const v1::Open& open,
                                   std::shared_ptr<SpanStream::Handler> handler);

  // Gives up the connection that `stream` uses, so that the next Open makes a new one. Does nothing if that has been
  // done already. This is for a connection that is dead without gRPC knowing: a stream that ends leaves its connection
  // open.
  void Drop(const std::string& address, int connection, const SpanStream& stream);

 private:
  template <typename Request, typename Response>
  using Method = grpc::Status (v1::DataService::Stub::*)(grpc::ClientContext*, const Request&, Response*);

  template <typename Request, typename Response>
  absl::StatusOr<Response> Ask(Method<Request, Response> method, const std::string& address, const Request& request,
                               absl::Time deadline, Call& call);

  std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address, int connection = 0);

  struct Connection {
    std::shared_ptr<grpc::Channel> channel;
    uint64_t security = 0;  // Security::Tls::number of what it was made with.
  };

  const std::shared_ptr<Security> security_;
  absl::Mutex mutex_;
  std::map<std::pair<std::string, int>, Connection> connections_ ABSL_GUARDED_BY(mutex_);

  grpc::CompletionQueue queue_;
  std::thread thread_;  // Declared last, so that all else is there when it begins.
};

}  // namespace stoker

#endif  // STOKER_CLIENT_RECEIVE_TRANSPORT_H_
