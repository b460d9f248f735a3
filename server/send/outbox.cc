#include "server/send/outbox.h"

#include <string>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/wire/span_codec.h"
#include "grpcpp/support/slice.h"
#include "server/request/stream_request.h"

namespace stoker {
namespace {

// Makes a slice over the span's payload, without a copy. The slice owns the span: its slab returns when gRPC drops the
// slice, which may be later than the end of the write.
grpc::Slice SliceOf(FinishedSpan span) {
  auto* owner = new FinishedSpan(std::move(span));
  const std::span<const uint8_t> payload = owner->payload();
  return grpc::Slice(
      const_cast<uint8_t*>(payload.data()), payload.size(), [](void* span) { delete static_cast<FinishedSpan*>(span); },
      owner);
}

// Makes the header to send instead of `header`, which cannot be sent. The likely reason is that its names are too long.
v1::SpanHeader Unsendable(const v1::SpanHeader& header, const absl::Status& reason) {
  v1::SpanHeader error;
  error.set_stream_key(header.stream_key());
  error.set_epoch(header.epoch());
  error.set_start(header.start());
  error.set_count(header.count());
  error.mutable_error()->set_kind(v1::ERROR_KIND_PIPELINE);
  error.mutable_error()->set_message(std::string(reason.message()));
  error.mutable_error()->set_position(header.start());
  return error;
}

grpc::ByteBuffer Encode(FinishedSpan span) {
  auto prefix = EncodeSpanPrefix(span.header, span.payload().size(), span.payload_hash);
  if (!prefix.ok()) {
    span = {.header = Unsendable(span.header, prefix.status()), .payload_hash = HashOfPayload({})};
    prefix = EncodeSpanPrefix(span.header, 0, span.payload_hash);
    STOKER_CHECK(prefix.ok());
  }
  std::vector<grpc::Slice> slices;
  slices.emplace_back(*prefix);
  if (!span.payload().empty()) slices.push_back(SliceOf(std::move(span)));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace

bool Outbox::Owe() {
  absl::MutexLock lock(&mutex_);
  if (finish_wanted_ || finished_ || owed_ >= kMaxOutstandingWants) return false;
  ++owed_;
  return true;
}

void Outbox::Forgive() {
  {
    absl::MutexLock lock(&mutex_);
    STOKER_CHECK(owed_ > 0);
    --owed_;
  }
  Advance();
}

void Outbox::Send(const v1::StreamResponse& response) {
  const grpc::Slice slice(response.SerializeAsString());
  Enqueue({grpc::ByteBuffer(&slice, 1), /*owed=*/false});
}

void Outbox::Deliver(FinishedSpan span) { Enqueue({Encode(std::move(span)), /*owed=*/true}); }

void Outbox::SendDrain() {
  {
    absl::MutexLock lock(&mutex_);
    if (std::exchange(drain_sent_, true)) return;
  }
  v1::StreamResponse response;
  response.mutable_drain();
  Send(response);
}

void Outbox::Enqueue(Message message) {
  {
    absl::MutexLock lock(&mutex_);
    if (!finish_wanted_ && !finished_) queue_.push_back(std::move(message));
  }
  Advance();  // A message that was not queued returns its slab when it goes out of scope, without the lock.
}

void Outbox::OnHalfClose() {
  {
    absl::MutexLock lock(&mutex_);
    half_closed_ = true;
  }
  Advance();
}

void Outbox::OnWriteDone(bool ok) {
  Message sent;  // Declared outside of the lock's scope, hence freed without the lock.
  absl::Duration taken;
  {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    taken = absl::FromChrono(std::chrono::steady_clock::now() - write_begun_);
    std::swap(sent, in_flight_);
    if (sent.owed) --owed_;
    if (!ok && !finish_wanted_) {
      finish_wanted_ = true;
      status_ = absl::CancelledError("the stream broke");
    }
  }
  if (ok && sent.owed && transport_.sent) transport_.sent(sent.bytes.Length(), taken);
  Advance();
}

void Outbox::Finish(const absl::Status& status) {
  std::deque<Message> dropped;
  {
    absl::MutexLock lock(&mutex_);
    if (!finish_wanted_) status_ = status;
    finish_wanted_ = true;
    dropped.swap(queue_);
  }
  dropped.clear();
  Advance();
}

void Outbox::Close() {
  std::deque<Message> dropped;
  absl::MutexLock lock(&mutex_);
  finished_ = true;
  dropped.swap(queue_);
}

void Outbox::Advance() {
  bool write = false, finish = false;
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    if (finished_ || writing_) return;
    if (finish_wanted_ || (half_closed_ && owed_ == 0 && queue_.empty())) {
      finished_ = finish = true;
      status = status_;
    } else if (!queue_.empty()) {
      in_flight_ = std::move(queue_.front());
      queue_.pop_front();
      writing_ = write = true;
      write_begun_ = std::chrono::steady_clock::now();
    }
  }
  if (write) transport_.write(&in_flight_.bytes);
  if (finish) transport_.finish(status);
}

}  // namespace stoker
