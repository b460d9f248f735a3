#include "server/main/pulse.h"

#include <utility>

#include "grpcpp/client_context.h"
#include "stoker/v1/data_service.grpc.pb.h"

namespace stoker {

// One call on its way. It lives until it is answered.
struct Pulse::Call {
  std::unique_ptr<v1::DataService::Stub> stub;
  grpc::ClientContext context;
  v1::ListClassesRequest request;  // Names no dataset, so that the answer is short: an error.
  v1::ListClassesResponse response;
};

Pulse::Pulse(std::shared_ptr<grpc::Channel> channel, absl::Duration patience)
    : channel_(std::move(channel)), patience_(patience) {}

bool Pulse::Feel() {
  {
    absl::MutexLock lock(&state_->mutex);
    if (state_->asked) return absl::FromChrono(std::chrono::steady_clock::now() - state_->since) <= patience_;
    state_->asked = true;
    state_->since = std::chrono::steady_clock::now();
  }
  auto call = std::make_shared<Call>();
  call->stub = v1::DataService::NewStub(channel_);
  call->stub->async()->ListClasses(&call->context, &call->request, &call->response,
                                   [call, state = state_](const grpc::Status&) {
                                     absl::MutexLock lock(&state->mutex);
                                     state->asked = false;
                                   });
  return true;
}

}  // namespace stoker
