#include "server/send/data_service.h"

#include <utility>

#include "common/status_macros.h"
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

template <typename Request>
absl::Status DataService::Check(const grpc::CallbackServerContext& context, const Request& request,
                                absl::Status (*validate)(const Request&)) const {
  STOKER_ASSIGN_OR_RETURN(const ClientIdentity client, access_->Identify(EvidenceOf(context)));
  STOKER_RETURN_IF_ERROR(ValidateDatasetName(request.dataset()));
  STOKER_RETURN_IF_ERROR(access_->rights()->Check(client.name, request.dataset()));
  return validate(request);
}

grpc::ServerUnaryReactor* DataService::ListDatasets(grpc::CallbackServerContext* context,
                                                    const v1::ListDatasetsRequest*,
                                                    v1::ListDatasetsResponse* response) {
  const auto client = access_->Identify(EvidenceOf(*context));
  if (!client.ok()) return Answer(context, client.status());
  const auto rights = access_->rights();
  *response = engine_->ListDatasets([&](const std::string& name) { return rights->MayRead(client->name, name); });
  return Answer(context, absl::OkStatus());
}

grpc::ServerUnaryReactor* DataService::Describe(grpc::CallbackServerContext* context,
                                                const v1::DescribeRequest* request, v1::DescribeResponse* response) {
  return Answer(desk_, context, Check(*context, *request, ValidateDescribe), *response,
                [this, request] { return engine_->Describe(*request); });
}

grpc::ServerUnaryReactor* DataService::ListClasses(grpc::CallbackServerContext* context,
                                                   const v1::ListClassesRequest* request,
                                                   v1::ListClassesResponse* response) {
  const auto valid = +[](const v1::ListClassesRequest&) { return absl::OkStatus(); };
  return Answer(desk_, context, Check(*context, *request, valid), *response,
                [this, request] { return engine_->ListClasses(*request); });
}

grpc::ServerUnaryReactor* DataService::ListSamples(grpc::CallbackServerContext* context,
                                                   const v1::ListSamplesRequest* request,
                                                   v1::ListSamplesResponse* response) {
  return Answer(desk_, context, Check(*context, *request, ValidateListSamples), *response,
                [this, request] { return engine_->ListSamples(*request); });
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* DataService::Stream(grpc::CallbackServerContext* context) {
  const std::string peer = context->peer();
  const auto refuse = [&](const AuditLog::Who& who, const absl::Status& status) {
    log_->Refused();
    audit_.Refused(who, "", status);
    return new RefusedStream(status);
  };
  const auto client = access_->Identify(EvidenceOf(*context));
  if (!client.ok()) return refuse({.identity = "", .proof = "", .peer = peer}, client.status());
  const AuditLog::Who who = {client->name, NameOf(client->proof), peer};
  auto admission = access_->Admit(*client);
  if (!admission.ok()) return refuse(who, admission.status());
  if (StreamReactor* const reactor = NewStream({who, access_, &audit_, *std::move(admission)})) return reactor;
  return refuse(who, absl::UnavailableError("this server is shutting down"));
}

StreamReactor* DataService::NewStream(StreamReactor::Client client) {
  auto log = std::make_shared<StreamLog>(client.who.peer, log_);
  const std::string host = HostOfPeer(client.who.peer);
  absl::MutexLock lock(&mutex_);
  if (draining_) return nullptr;
  StreamReactor* reactor = StreamReactor::Make({engine_, &desk_, &unopened_, host}, std::move(client), std::move(log),
                                               [this](StreamReactor* ended) {
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
