#include "server/send/data_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/wire/grpc_status.h"
#include "server/observe/peer.h"
#include "server/request/stream_request.h"

namespace stoker {
namespace {

grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, const absl::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpc(status));
  return reactor;
}

// Answers a valid request with what `ask` returns, at its turn at `desk`.
template <typename Response, typename Ask>
grpc::ServerUnaryReactor* Answer(Desk& desk, grpc::CallbackServerContext* context, const absl::Status& valid,
                                 Response& response, const Ask& ask) {
  if (!valid.ok()) return Answer(context, valid);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const absl::Status queued = desk.Ask(HostOfPeer(context->peer()), [=, &response](const absl::Status& admitted) {
    if (!admitted.ok()) return reactor->Finish(ToGrpc(admitted));
    if (context->IsCancelled()) return reactor->Finish(ToGrpc(absl::CancelledError("the client went away")));
    auto answer = ask();
    if (!answer.ok()) return reactor->Finish(ToGrpc(answer.status()));
    response = *std::move(answer);
    reactor->Finish(grpc::Status::OK);
  });
  if (!queued.ok()) reactor->Finish(ToGrpc(queued));
  return reactor;
}

// Ends a Stream call with `status` before anything is read.
class RefusedStream : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit RefusedStream(const absl::Status& status) { Finish(ToGrpc(status)); }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerUnaryReactor* DataService::ListDatasets(grpc::CallbackServerContext* context,
                                                    const v1::ListDatasetsRequest*,
                                                    v1::ListDatasetsResponse* response) {
  *response = engine_->ListDatasets();
  return Answer(context, absl::OkStatus());
}

grpc::ServerUnaryReactor* DataService::Describe(grpc::CallbackServerContext* context,
                                                const v1::DescribeRequest* request, v1::DescribeResponse* response) {
  return Answer(desk_, context, ValidateDescribe(*request), *response,
                [this, request] { return engine_->Describe(*request); });
}

grpc::ServerUnaryReactor* DataService::ListClasses(grpc::CallbackServerContext* context,
                                                   const v1::ListClassesRequest* request,
                                                   v1::ListClassesResponse* response) {
  return Answer(desk_, context, ValidateDatasetName(request->dataset()), *response,
                [this, request] { return engine_->ListClasses(*request); });
}

grpc::ServerUnaryReactor* DataService::ListSamples(grpc::CallbackServerContext* context,
                                                   const v1::ListSamplesRequest* request,
                                                   v1::ListSamplesResponse* response) {
  return Answer(desk_, context, ValidateListSamples(*request), *response,
                [this, request] { return engine_->ListSamples(*request); });
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* DataService::Stream(grpc::CallbackServerContext* context) {
  absl::MutexLock lock(&mutex_);
  if (draining_) {
    log_->Refused();
    return new RefusedStream(absl::UnavailableError("this server is shutting down"));
  }
  auto log = std::make_shared<StreamLog>(context->peer(), log_);
  StreamReactor* reactor = StreamReactor::Make({engine_, &desk_, &unopened_, HostOfPeer(context->peer())},
                                               std::move(log), [this](StreamReactor* ended) {
                                                 absl::MutexLock lock(&mutex_);
                                                 streams_.erase(ended);
                                               });
  streams_.insert(reactor);
  return reactor;
}

void DataService::Drain() {
  absl::MutexLock lock(&mutex_);
  draining_ = true;
  // This thread keeps the lock meanwhile. gRPC reports the end of a write on another thread, so nothing called here
  // comes back for it.
  for (StreamReactor* stream : streams_) stream->Drain();
}

bool DataService::AwaitStreamsEnd(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(
                                     +[](std::set<StreamReactor*>* streams) { return streams->empty(); }, &streams_),
                                 timeout);
}

}  // namespace stoker
