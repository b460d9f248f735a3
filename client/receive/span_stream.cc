#include "client/receive/span_stream.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/receive/obstacle.h"
#include "common/wire/grpc_status.h"
#include "grpcpp/support/slice.h"

namespace stoker {
namespace {

constexpr char kStreamMethod[] = "/stoker.v1.DataService/Stream";

// What a server sends beside spans is small. Once parsed, the smallest fields take some eighty times their bytes.
constexpr size_t kMaxNotice = 64 << 10;

grpc::ByteBuffer Serialize(const v1::StreamRequest& request) {
  const grpc::Slice slice(request.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

absl::Status PlainStatus(const grpc::Status& grpc) {
  const absl::Status status = FromGrpc(grpc);
  if (!absl::IsUnavailable(status)) return status;
  return absl::UnavailableError(PlainReason(std::string(status.message())));
}

}  // namespace

SpanStream::SpanStream(std::shared_ptr<grpc::Channel> channel, grpc::CompletionQueue* queue,
                       std::shared_ptr<Handler> handler)
    : channel_(std::move(channel)),
      call_(grpc::GenericStub(channel_).PrepareCall(&context_, kStreamMethod, queue)),
      handler_(std::move(handler)) {}

void AddToken(grpc::ClientContext& context, const std::string& token) {
  context.AddMetadata("authorization", "Bearer " + token);
}

void SpanStream::Start(const v1::Open& open, const absl::StatusOr<std::optional<std::string>>& token) {
  self_ = shared_from_this();
  if (!token.ok()) {
    refusal_ = token.status();
    context_.TryCancel();
  } else if (token->has_value()) {
    AddToken(context_, **token);
  }
  v1::StreamRequest request;
  *request.mutable_open() = open;
  {
    absl::MutexLock lock(&mutex_);
    outgoing_.push_front(Serialize(request));
  }
  call_->StartCall(&started_);
}

bool SpanStream::Want(const SpanId& span, bool anew) {
  v1::StreamRequest request;
  request.mutable_want()->set_epoch(span.epoch);
  request.mutable_want()->set_start(span.start);
  request.mutable_want()->set_count(span.count);
  request.mutable_want()->set_anew(anew);
  return Write(request);
}

void SpanStream::Cancel(const SpanId& span) {
  v1::StreamRequest request;
  request.mutable_cancel()->set_epoch(span.epoch);
  request.mutable_cancel()->set_start(span.start);
  request.mutable_cancel()->set_count(span.count);
  Write(request);
}

void SpanStream::Report(absl::Duration waited, size_t streams) {
  v1::StreamRequest request;
  request.mutable_report()->set_waited(static_cast<uint64_t>(absl::ToInt64Nanoseconds(waited)));
  request.mutable_report()->set_streams(static_cast<uint32_t>(streams));
  Write(request);
}

void SpanStream::HalfClose() {
  absl::MutexLock lock(&mutex_);
  half_close_wanted_ = true;
  WriteNext();
}

void SpanStream::Abort() { context_.TryCancel(); }

bool SpanStream::Write(const v1::StreamRequest& request) {
  absl::MutexLock lock(&mutex_);
  if (half_close_wanted_ || broken_) return false;
  outgoing_.push_back(Serialize(request));
  WriteNext();
  return true;
}

// One write is in flight at a time. gRPC takes references to the message's slices, so the message may go at once.
void SpanStream::WriteNext() {
  if (!started_ok_ || writing_ || broken_) return;
  if (!outgoing_.empty()) {
    writing_ = true;
    call_->Write(outgoing_.front(), &written_);
    outgoing_.pop_front();
  } else if (half_close_wanted_ && !half_closed_) {
    writing_ = half_closed_ = true;
    call_->WritesDone(&written_);
  }
}

void SpanStream::On(Event event, bool ok) {
  switch (event) {
    case Event::kStarted: {
      {
        absl::MutexLock lock(&mutex_);
        started_ok_ = ok;
        broken_ = !ok;
        WriteNext();
      }
      if (!ok) return Finish();
      return call_->Read(&incoming_, &read_);
    }
    case Event::kRead: return ok ? OnRead() : Finish();
    case Event::kWritten: {
      {
        absl::MutexLock lock(&mutex_);
        writing_ = false;
        if (!ok) broken_ = true;  // The pending read fails too, and ends the call.
        WriteNext();
      }
      return ReleaseIfOver();
    }
    case Event::kFinished: {
      closed_ = true;
      handler_->OnClosed(refusal_.ok() ? PlainStatus(status_) : refusal_);
      return ReleaseIfOver();
    }
  }
}

void SpanStream::OnRead() {
  if (auto status = HandleMessage(); !status.ok()) {
    refusal_ = status;
    context_.TryCancel();
  }
  incoming_.Clear();
  call_->Read(&incoming_, &read_);
}

absl::Status SpanStream::HandleMessage() {
  if (!refusal_.ok()) return refusal_;
  std::vector<grpc::Slice> slices;
  if (!incoming_.Dump(&slices).ok()) return absl::DataLossError("a message that cannot be decompressed");
  std::vector<std::string_view> views;
  views.reserve(slices.size());
  for (const grpc::Slice& slice : slices)
    views.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  if (!IsSpan(views)) return HandleResponse(views);
  const auto span = ParseSpan(views);
  if (!span.ok()) return span.status();
  handler_->OnSpan(*span);
  return absl::OkStatus();
}

absl::Status SpanStream::HandleResponse(Slices message) {
  if (incoming_.Length() > kMaxNotice)
    return absl::DataLossError(absl::StrCat("a message of ", incoming_.Length(), " bytes that is no span"));
  std::string bytes;
  for (std::string_view slice : message) bytes.append(slice);
  v1::StreamResponse response;
  if (!response.ParseFromString(bytes)) return absl::DataLossError("a message that is no stoker.v1.StreamResponse");
  if (response.has_opened()) return handler_->OnOpened(response.opened());
  if (response.has_drain()) handler_->OnDrain();
  return absl::OkStatus();  // A server of a later version may say more, which is ignored.
}

void SpanStream::Finish() {
  if (std::exchange(finishing_, true)) return;
  call_->Finish(&status_, &finished_);
}

void SpanStream::ReleaseIfOver() {
  std::shared_ptr<SpanStream> self;  // Outlives the lock, since this object may end with it.
  absl::MutexLock lock(&mutex_);
  broken_ = broken_ || closed_;
  if (closed_ && !writing_) self = std::move(self_);
}

}  // namespace stoker
