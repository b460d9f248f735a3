#include "server/send/stream_reactor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/wire/grpc_status.h"
#include "server/request/stream_request.h"

namespace stoker {
namespace {

// More is no time that a client can have waited; and no duration.
constexpr uint64_t kMostWaitedNanoseconds = uint64_t{1} << 62;

}  // namespace

StreamReactor* StreamReactor::Make(Opener opener, Client client, std::shared_ptr<StreamLog> log,
                                   std::function<void(StreamReactor*)> done) {
  std::shared_ptr<StreamReactor> reactor(
      new StreamReactor(std::move(opener), std::move(client), std::move(log), std::move(done)));
  reactor->self_ = reactor;
  reactor->unopened_ = reactor->opener_.unopened->Begin(
      reactor->opener_.host, [outbox = reactor->outbox_](const absl::Status& status) { outbox->Finish(status); });
  if (reactor->unopened_ == nullptr) {
    reactor->outbox_->Finish(
        absl::UnavailableError("too many streams wait for their `open` on this server; try again"));
  } else {
    reactor->StartRead(&reactor->read_);
  }
  return reactor.get();
}

StreamReactor::StreamReactor(Opener opener, Client client, std::shared_ptr<StreamLog> log,
                             std::function<void(StreamReactor*)> done)
    : opener_(std::move(opener)),
      client_(std::move(client)),
      done_(std::move(done)),
      log_(std::move(log)),
      outbox_(std::make_shared<Outbox>(Outbox::Transport{
          .write = [this](const grpc::ByteBuffer* message) { StartWrite(message); },
          .finish =
              [this](const absl::Status& status) {
                log_->Ended(status);
                Finish(ToGrpc(status));
              },
          .sent = [log = log_](uint64_t bytes, absl::Duration taken) { log->Sent(bytes, taken); }})) {}

void StreamReactor::OnReadDone(bool ok) {
  if (!ok) {
    {
      absl::MutexLock lock(&mutex_);
      half_closed_early_ = state_ == State::kOpening;
      if (half_closed_early_) return;  // The client still gets its answer.
    }
    return outbox_->OnHalfClose();
  }
  auto request = ParseStreamRequest(read_);
  read_.Clear();
  const absl::Status status = request.ok() ? Take(*std::move(request)) : request.status();
  if (!status.ok()) return outbox_->Finish(status);
  StartRead(&read_);
}

absl::Status StreamReactor::Take(v1::StreamRequest request) {
  std::shared_ptr<Engine::Stream> stream;
  {
    absl::MutexLock lock(&mutex_);
    if (request.has_open() && state_ != State::kNew)
      return absl::InvalidArgumentError("this stream is open already; `open` must be sent once");
    if (!request.has_open() && state_ == State::kNew)
      return absl::InvalidArgumentError("the first message of a stream must be `open`");
    if (state_ == State::kOpening) {
      if (early_.size() >= kMaxOutstandingWants)
        return absl::ResourceExhaustedError("too many requests came before the stream was open; wait for `opened`");
      early_.push_back(std::move(request));
      return absl::OkStatus();
    }
    if (state_ == State::kNew) state_ = State::kOpening;
    stream = stream_;
  }
  if (request.has_open()) unopened_.reset();
  return request.has_open() ? AskToOpen(std::move(*request.mutable_open())) : Handle(*stream, request);
}

absl::Status StreamReactor::Handle(Engine::Stream& stream, const v1::StreamRequest& request) {
  if (request.has_want()) {
    if (!outbox_->Owe())
      return absl::ResourceExhaustedError(
          absl::StrCat("more than ", kMaxOutstandingWants, " wants are outstanding on this stream"));
    return stream.Want(request.want());
  }
  if (request.has_cancel()) {
    if (stream.Cancel(request.cancel())) outbox_->Forgive();
    return absl::OkStatus();
  }
  if (request.has_report()) {
    log_->Waited(absl::Nanoseconds(std::min<uint64_t>(request.report().waited(), kMostWaitedNanoseconds)),
                 request.report().streams());
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("this request is neither `open`, `want`, `cancel` nor `report`");
}

absl::Status StreamReactor::Check(const v1::Open& open) const {
  STOKER_RETURN_IF_ERROR(ValidateDatasetName(open.dataset()));
  STOKER_RETURN_IF_ERROR(client_.access->rights()->Check(client_.who.identity, open.dataset()));
  return ValidateOpen(open);
}

absl::Status StreamReactor::AskToOpen(v1::Open open) {
  const std::string dataset = open.dataset();
  absl::Status status = Check(open);
  if (status.ok())
    status = opener_.desk->Ask(opener_.host,
                               [self = shared_from_this(), open = std::move(open)](const absl::Status& admitted) {
                                 const absl::Status status = self->Open(open, admitted);
                                 if (!status.ok()) self->outbox_->Finish(status);
                               });
  if (!status.ok()) client_.audit->Refused(client_.who, dataset, status);
  return status;
}

absl::Status StreamReactor::Open(const v1::Open& open, const absl::Status& admitted) {
  {
    absl::MutexLock lock(&mutex_);
    if (state_ == State::kDone) return absl::OkStatus();  // The client has left.
  }
  // A worker may deliver after this reactor is gone, so the callback holds the outbox and the log, not the reactor.
  const auto deliver = [outbox = outbox_, log = log_](FinishedSpan span) {
    log->Made(span.header);
    outbox->Deliver(std::move(span));
  };
  const Quota& quota = client_.admission->quota();
  const WorkShare share = {client_.who.identity, quota.bytes_in_flight, quota.worker_percent};
  auto opened = admitted.ok() ? opener_.engine->Open(open, deliver, share) : admitted;
  if (!opened.ok()) {
    client_.audit->Refused(client_.who, open.dataset(), opened.status());
    return opened.status();
  }
  const std::shared_ptr<Engine::Stream> stream = *std::move(opened);
  {
    absl::MutexLock lock(&mutex_);
    if (state_ == State::kDone) return absl::OkStatus();
    stream_ = stream;
  }
  client_.audit->Opened(client_.who, open.dataset());
  log_->Opened(open.dataset());
  v1::StreamResponse response;
  *response.mutable_opened() = stream->opened();
  response.mutable_opened()->set_takes_reports(true);
  outbox_->Send(response);
  return CatchUp(*stream);
}

absl::Status StreamReactor::CatchUp(Engine::Stream& stream) {
  while (true) {
    std::optional<v1::StreamRequest> next;
    bool half_close = false;
    {
      absl::MutexLock lock(&mutex_);
      if (state_ == State::kDone) return absl::OkStatus();
      if (early_.empty()) {
        state_ = State::kOpen;
        half_close = half_closed_early_;
      } else {
        next = std::move(early_.front());
        early_.pop_front();
      }
    }
    if (half_close) outbox_->OnHalfClose();
    if (!next.has_value()) return absl::OkStatus();
    STOKER_RETURN_IF_ERROR(Handle(stream, *next));
  }
}

void StreamReactor::OnDone() {
  outbox_->Close();
  unopened_.reset();
  std::shared_ptr<Engine::Stream> stream;  // Declared before the lock, hence destroyed after its release.
  {
    absl::MutexLock lock(&mutex_);
    state_ = State::kDone;
    stream.swap(stream_);
  }
  done_(this);  // A drain may call this reactor until `done_` returns, so it must come before the deletion.
  const std::shared_ptr<StreamReactor> self = std::move(self_);  // Deletes the reactor, or leaves that to the desk.
}

}  // namespace stoker
