#ifndef STOKER_SERVER_SEND_DATA_SERVICE_H_
#define STOKER_SERVER_SEND_DATA_SERVICE_H_

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/time/steady_time.h"
#include "server/observe/audit_log.h"
#include "server/observe/service_log.h"
#include "server/request/access.h"
#include "server/send/desk.h"
#include "server/send/stream_reactor.h"
#include "server/send/unopened_streams.h"
#include "server/work/engine.h"
#include "stoker/v1/data_service.grpc.pb.h"

namespace stoker {

// stoker.v1.DataService over an engine: finds out who asks and what that client may read, checks requests, lets the
// engine answer them, and returns its status. Streams carry raw bytes, so that a span's payload is never copied. What
// the engine may take long for is answered by a desk.
//
// Thread-safe. It must outlive the gRPC server that it is registered with.
class DataService
    : public v1::DataService::WithRawCallbackMethod_Stream<
          v1::DataService::WithCallbackMethod_Describe<v1::DataService::WithCallbackMethod_ListDatasets<
              v1::DataService::WithCallbackMethod_ListClasses<v1::DataService::WithCallbackMethod_ListSamples<
                  v1::DataService::WithCallbackMethod_Status<v1::DataService::Service>>>>>> {
 public:
  DataService(Engine* engine, Access* access) : engine_(engine), access_(access) {}

  grpc::ServerUnaryReactor* ListDatasets(grpc::CallbackServerContext* context, const v1::ListDatasetsRequest* request,
                                         v1::ListDatasetsResponse* response) override;
  grpc::ServerUnaryReactor* Describe(grpc::CallbackServerContext* context, const v1::DescribeRequest* request,
                                     v1::DescribeResponse* response) override;
  grpc::ServerUnaryReactor* ListClasses(grpc::CallbackServerContext* context, const v1::ListClassesRequest* request,
                                        v1::ListClassesResponse* response) override;
  grpc::ServerUnaryReactor* ListSamples(grpc::CallbackServerContext* context, const v1::ListSamplesRequest* request,
                                        v1::ListSamplesResponse* response) override;
  grpc::ServerUnaryReactor* Status(grpc::CallbackServerContext* context, const v1::StatusRequest* request,
                                   v1::StatusResponse* response) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Stream(grpc::CallbackServerContext* context) override;

  // Counts what streams do.
  ServiceLog& log() { return *log_; }

  // A stream that is open.
  struct OpenStream {
    AuditLog::Who who;
    StreamLog::Figures figures;
  };

  // Returns up to `most` of them, and how many there are.
  std::pair<std::vector<OpenStream>, size_t> Streams(size_t most);

  // Ends the streams that did not open in time. To be called about once a second.
  void ExpireUnopened() { unopened_.Expire(); }

  // Tells every stream that the server drains. From then on new streams are refused.
  void Drain();

  // Waits until no stream is left. Returns false if `timeout` passes first.
  bool AwaitStreamsEnd(absl::Duration timeout);

 private:
  // OK if the client of `context` may read the request's dataset, and `validate` is OK. What `validate` says is told to
  // nobody else.
  template <typename Request>
  absl::Status Check(const grpc::CallbackServerContext& context, const Request& request,
                     absl::Status (*validate)(const Request&)) const;

  // Begins a stream; null while the server drains.
  StreamReactor* NewStream(StreamReactor::Client client);

  Engine* const engine_;
  Access* const access_;
  const std::shared_ptr<ServiceLog> log_ = std::make_shared<ServiceLog>();
  const absl::Time started_ = SteadyNow();
  AuditLog audit_;
  Desk desk_;
  UnopenedStreams unopened_;

  absl::Mutex mutex_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<StreamReactor*> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_SEND_DATA_SERVICE_H_
