#include "server/main/pulse.h"

#include <utility>

#include "grpcpp/client_context.h"
#include "stoker/v1/data_service.grpc.pb.h"

namespace stoker {

struct Pulse::Call {
  std::unique_ptr<v1::DataService::Stub> stub;
  grpc::ClientContext context;
  v1::ListClassesRequest request;  // Names no dataset, so that the answer is short: an error.
  v1::ListClassesResponse response;
};

Pulse::Pulse(std::shared_ptr<grpc::Channel> channel, absl::Duration patience)
    : channel_(std::move(channel)), patience_(patience) {}

Pulse::~Pulse() { Close(); }

void Pulse::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  if (asked_) call_->context.TryCancel();
  mutex_.Await(absl::Condition(
      +[](bool* asked) { return !*asked; }, &asked_));
}

bool Pulse::Feel() {
  absl::MutexLock lock(&mutex_);
  if (closed_) return true;
  if (asked_) return absl::FromChrono(std::chrono::steady_clock::now() - since_) <= patience_;
  asked_ = true;
  since_ = std::chrono::steady_clock::now();
  call_ = std::make_unique<Call>();
  call_->stub = v1::DataService::NewStub(channel_);
  // It is called on another thread, hence not under this lock.
  call_->stub->async()->ListClasses(&call_->context, &call_->request, &call_->response, [this](const grpc::Status&) {
    absl::MutexLock lock(&mutex_);
    asked_ = false;
  });
  return true;
}

}  // namespace stoker
