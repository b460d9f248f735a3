#include "server/send/stream_reactor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/wire/grpc_status.h"
#include "server/request/stream_request.h"

namespace stoker {

StreamReactor::StreamReactor(Engine* engine, std::shared_ptr<StreamLog> log, std::function<void(StreamReactor*)> done)
    : engine_(engine),
      done_(std::move(done)),
      log_(std::move(log)),
      outbox_(std::make_shared<Outbox>(
          Outbox::Transport{.write = [this](const grpc::ByteBuffer* message) { StartWrite(message); },
                            .finish =
                                [this](const absl::Status& status) {
                                  log_->Ended(status);
                                  Finish(ToGrpc(status));
                                }})) {
  StartRead(&read_);
}

void StreamReactor::OnReadDone(bool ok) {
  if (!ok) return outbox_->OnHalfClose();
  const auto request = ParseStreamRequest(read_);
  read_.Clear();
  const absl::Status status = request.ok() ? Handle(*request) : request.status();
  if (!status.ok()) return outbox_->Finish(status);
  StartRead(&read_);
}

absl::Status StreamReactor::Handle(const v1::StreamRequest& request) {
  if (request.has_open()) return HandleOpen(request.open());
  if (stream_ == nullptr) return absl::InvalidArgumentError("the first message of a stream must be `open`");
  if (request.has_want()) {
    if (!outbox_->Owe())
      return absl::ResourceExhaustedError(
          absl::StrCat("more than ", kMaxOutstandingWants, " wants are outstanding on this stream"));
    return stream_->Want(request.want());
  }
  if (request.has_cancel()) {
    if (stream_->Cancel(request.cancel())) outbox_->Forgive();
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("this request is neither `open`, `want` nor `cancel`");
}

absl::Status StreamReactor::HandleOpen(const v1::Open& open) {
  if (stream_ != nullptr) return absl::InvalidArgumentError("this stream is open already; `open` must be sent once");
  STOKER_RETURN_IF_ERROR(ValidateOpen(open));
  // A worker may deliver after this reactor is gone, so the callback holds the outbox and the log, not the reactor.
  STOKER_ASSIGN_OR_RETURN(stream_, engine_->Open(open, [outbox = outbox_, log = log_](FinishedSpan span) {
    log->Made(span.header);
    outbox->Deliver(std::move(span));
  }));
  log_->Opened(open.dataset());
  v1::StreamResponse response;
  *response.mutable_opened() = stream_->opened();
  outbox_->Send(response);
  return absl::OkStatus();
}

void StreamReactor::OnDone() {
  outbox_->Close();
  stream_.reset();
  done_(this);  // A drain may call this reactor until `done_` returns, so it must come before the deletion.
  delete this;
}

}  // namespace stoker
