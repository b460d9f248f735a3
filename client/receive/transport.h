#ifndef STOKER_CLIENT_RECEIVE_TRANSPORT_H_
#define STOKER_CLIENT_RECEIVE_TRANSPORT_H_

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/receive/span_stream.h"
#include "grpcpp/channel.h"
#include "grpcpp/completion_queue.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Connections to servers, shared by the streams of a client, and the thread on which what they receive arrives.
// Thread-safe. Ends after its streams: it must outlive their OnClosed.
class Transport {
 public:
  // One unary call, which another thread may end. Used once.
  class Call {
   public:
    void Cancel() { context_.TryCancel(); }

   private:
    friend class Transport;
    grpc::ClientContext context_;
  };

  // By TLS, if `roots`, certificates of authorities in PEM, is not empty. `name` is the one in the servers'
  // certificates; empty: the host that each is reached by.
  explicit Transport(std::string roots = "", std::string name = "");
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  ~Transport();

  // Block for the answer, waiting for the server to come up for at most `timeout`.
  absl::StatusOr<v1::ListDatasetsResponse> ListDatasets(const std::string& address, absl::Duration timeout, Call& call);
  absl::StatusOr<v1::DescribeResponse> Describe(const std::string& address, const v1::DescribeRequest& request,
                                                absl::Duration timeout, Call& call);

  // Begins a stream over one of the connections to a server, which are numbered from 0. What comes of it is told to
  // `handler` on this transport's thread, perhaps before this returns. Never blocks.
  std::shared_ptr<SpanStream> Open(const std::string& address, int connection, const v1::Open& open,
                                   std::shared_ptr<SpanStream::Handler> handler);

  // Gives up the connection that `stream` has, unless that has been done: what begins after this makes a new one. For
  // one that is dead without having said so; a stream that ends leaves its connection as it is.
  void Drop(const std::string& address, int connection, const SpanStream& stream);

 private:
  std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address, int connection = 0);

  const std::string roots_, name_;
  absl::Mutex mutex_;
  std::map<std::pair<std::string, int>, std::shared_ptr<grpc::Channel>> channels_ ABSL_GUARDED_BY(mutex_);

  grpc::CompletionQueue queue_;
  std::thread thread_;  // Last: joins before the rest goes.
};

}  // namespace stoker

#endif  // STOKER_CLIENT_RECEIVE_TRANSPORT_H_
