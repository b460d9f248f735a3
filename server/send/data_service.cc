#include "server/send/data_service.h"

#include <utility>

#include "common/status_macros.h"
#include "common/time/steady_time.h"
#include "common/wire/grpc_status.h"
#include "server/observe/peer.h"
#include "server/request/stream_request.h"

namespace stoker {
namespace {

// What gRPC calls a client without an address: the one in the process itself, which feels the server's pulse.
constexpr char kOwnPeer[] = "unknown";

// A call that is answered once. It is counted when that is done.
struct Call {
  grpc::CallbackServerContext* context;
  std::string method;
  std::shared_ptr<ServiceLog> log;
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();  // which gRPC makes anew at each call of this
  absl::Time begun = SteadyNow();

  grpc::ServerUnaryReactor* End(const absl::Status& status) const {
    if (context->peer() != kOwnPeer) log->Called(method, status.code(), SteadyNow() - begun);
    reactor->Finish(ToGrpc(status));
    return reactor;
  }
};

// Answers a valid request with what `ask` returns, at its turn at `desk`.
template <typename Response, typename Ask>
grpc::ServerUnaryReactor* Answer(Desk& desk, const Call& call, const absl::Status& valid, Response& response,
                                 const Ask& ask) {
  if (!valid.ok()) return call.End(valid);
  const absl::Status queued =
      desk.Ask(HostOfPeer(call.context->peer()), [call, ask, &response](const absl::Status& admitted) {
        if (!admitted.ok()) {
          call.End(admitted);
        } else if (call.context->IsCancelled()) {
          call.End(absl::CancelledError("the client went away"));
        } else {
          auto answer = ask();
          const absl::Status status = answer.status();
          if (status.ok()) response = *std::move(answer);
          call.End(status);
        }
      });
  return queued.ok() ? call.reactor : call.End(queued);
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
  const Call call = {context, "ListDatasets", log_};
  const auto client = access_->Identify(EvidenceOf(*context));
  if (!client.ok()) return call.End(client.status());
  const auto rights = access_->rights();
  *response = engine_->ListDatasets([&](const std::string& name) { return rights->MayRead(client->name, name); });
  return call.End(absl::OkStatus());
}

grpc::ServerUnaryReactor* DataService::Status(grpc::CallbackServerContext* context, const v1::StatusRequest*,
                                              v1::StatusResponse* response) {
  const Call call = {context, "Status", log_};
  const auto client = access_->Identify(EvidenceOf(*context));
  if (!client.ok()) return call.End(client.status());
  response->set_build(engine_->build());
  response->set_uptime_seconds(absl::ToDoubleSeconds(SteadyNow() - started_));
  response->set_workers(engine_->workers());
  response->set_busy_seconds(log_->metrics().busy_seconds());
  const WorkerPool::Waiting waiting = engine_->waiting();
  response->set_waiting_spans(waiting.fetch + waiting.work);
  const auto rights = access_->rights();
  for (const auto& [name, dataset] : engine_->catalog()->datasets)
    if (rights->MayRead(client->name, name)) *response->add_datasets() = log_->metrics().StatusOf(name);
  {
    absl::MutexLock lock(&mutex_);
    response->set_draining(draining_);
  }
  return call.End(absl::OkStatus());
}

grpc::ServerUnaryReactor* DataService::Describe(grpc::CallbackServerContext* context,
                                                const v1::DescribeRequest* request, v1::DescribeResponse* response) {
  return Answer(desk_, {context, "Describe", log_}, Check(*context, *request, ValidateDescribe), *response,
                [this, request] { return engine_->Describe(*request); });
}

grpc::ServerUnaryReactor* DataService::ListClasses(grpc::CallbackServerContext* context,
                                                   const v1::ListClassesRequest* request,
                                                   v1::ListClassesResponse* response) {
  const auto valid = +[](const v1::ListClassesRequest&) { return absl::OkStatus(); };
  return Answer(desk_, {context, "ListClasses", log_}, Check(*context, *request, valid), *response,
                [this, request] { return engine_->ListClasses(*request); });
}

grpc::ServerUnaryReactor* DataService::ListSamples(grpc::CallbackServerContext* context,
                                                   const v1::ListSamplesRequest* request,
                                                   v1::ListSamplesResponse* response) {
  return Answer(desk_, {context, "ListSamples", log_}, Check(*context, *request, ValidateListSamples), *response,
                [this, request] { return engine_->ListSamples(*request); });
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* DataService::Stream(grpc::CallbackServerContext* context) {
  const std::string peer = context->peer();
  const auto refuse = [&](const AuditLog::Who& who, const absl::Status& status) {
    log_->Refused();
    log_->Called("Stream", status.code(), absl::ZeroDuration());
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

std::pair<std::vector<DataService::OpenStream>, size_t> DataService::Streams(size_t most) {
  std::vector<OpenStream> streams;
  absl::MutexLock lock(&mutex_);
  for (const StreamReactor* stream : streams_)
    if (streams.size() < most) streams.push_back({stream->who(), stream->figures()});
  return {std::move(streams), streams_.size()};
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
