#ifndef STOKER_SERVER_SEND_DATA_SERVICE_H_
#define STOKER_SERVER_SEND_DATA_SERVICE_H_

#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/send/stream_reactor.h"
#include "server/work/engine.h"
#include "stoker/v1/data_service.grpc.pb.h"

namespace stoker {

// stoker.v1.DataService over an engine: requests are checked, answered by the engine, and its status returned.
// Streams carry raw bytes, so that a span's payload is never copied. Thread-safe; outlives its server.
class DataService : public v1::DataService::WithRawCallbackMethod_Stream<v1::DataService::WithCallbackMethod_Describe<
                        v1::DataService::WithCallbackMethod_ListDatasets<v1::DataService::Service>>> {
 public:
  explicit DataService(Engine* engine) : engine_(engine) {}

  grpc::ServerUnaryReactor* ListDatasets(grpc::CallbackServerContext* context, const v1::ListDatasetsRequest* request,
                                         v1::ListDatasetsResponse* response) override;
  grpc::ServerUnaryReactor* Describe(grpc::CallbackServerContext* context, const v1::DescribeRequest* request,
                                     v1::DescribeResponse* response) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Stream(grpc::CallbackServerContext* context) override;

  // Tells every stream that the server drains, and refuses new ones.
  void Drain();

  // Waits until no stream is left, or `timeout`; false on the latter.
  bool AwaitStreamsEnd(absl::Duration timeout);

 private:
  Engine* const engine_;

  absl::Mutex mutex_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<StreamReactor*> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_SEND_DATA_SERVICE_H_
