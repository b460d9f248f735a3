#ifndef STOKER_CLIENT_RECEIVE_SPAN_STREAM_H_
#define STOKER_CLIENT_RECEIVE_SPAN_STREAM_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/identity/span_id.h"
#include "common/wire/span_codec.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/generic/generic_stub.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Sends `token` along with a call, as a bearer token (RFC 6750).
void AddToken(grpc::ClientContext& context, const std::string& token);

// One Stream call to one server. Thread-safe; no method blocks. It keeps itself alive from its start until its end has
// been told, by Handler::OnClosed, and gRPC is done with it.
class SpanStream : public std::enable_shared_from_this<SpanStream> {
 public:
  // Is told what comes of a stream, one call at a time, on the transport's thread.
  class Handler {
   public:
    virtual ~Handler() = default;

    // The server is ready. Another status than OK ends the stream, and OnClosed tells it: this is not the server that
    // was expected.
    virtual absl::Status OnOpened(const v1::Opened& opened) = 0;

    // A span came. Its payload's slices go when this returns.
    virtual void OnSpan(const SpanMessage& span) = 0;

    // The server takes no more wants, and will end the stream when it has sent what it owes.
    virtual void OnDrain() = 0;

    // The stream ended, with this status. This is the last call.
    virtual void OnClosed(const absl::Status& status) = 0;
  };

  SpanStream(std::shared_ptr<grpc::Channel> channel, grpc::CompletionQueue* queue, std::shared_ptr<Handler> handler);

  // Asks for a span, which if `anew` is made past all caches. False if it was not asked for, since the stream was
  // half-closed or broke.
  bool Want(const SpanId& span, bool anew = false);

  // Takes a want back. Its span may come all the same.
  void Cancel(const SpanId& span);

  // Tells the server how long the job waited, as `streams` streams are told: see v1::Report. Only for one that takes
  // reports.
  void Report(absl::Duration waited, size_t streams);

  // Says that nothing more will be wanted: the server sends what it owes and ends the stream.
  void HalfClose();

  // Ends the stream at once; OnClosed follows.
  void Abort();

 private:
  friend class Transport;

  enum class Event { kStarted, kRead, kWritten, kFinished };
  // What the completion queue hands back when a call's operation is done.
  struct Tag {
    SpanStream* stream;
    Event event;
  };

  // Where there is an error instead of a token the stream ends with that.
  void Start(const v1::Open& open, const absl::StatusOr<std::optional<std::string>>& token);
  void On(Event event, bool ok);
  void OnRead();
  absl::Status HandleMessage();
  absl::Status HandleResponse(Slices message);
  bool Write(const v1::StreamRequest& request);
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Finish();
  void ReleaseIfOver();

  const std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  const std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  const std::shared_ptr<Handler> handler_;
  Tag started_{this, Event::kStarted}, read_{this, Event::kRead}, written_{this, Event::kWritten},
      finished_{this, Event::kFinished};

  // Only the transport's thread touches these.
  grpc::ByteBuffer incoming_;
  grpc::Status status_;
  absl::Status refusal_;  // Why this side ended the stream; it says more than status_, which follows from it.
  bool finishing_ = false;
  bool closed_ = false;

  absl::Mutex mutex_;
  std::deque<grpc::ByteBuffer> outgoing_ ABSL_GUARDED_BY(mutex_);
  bool started_ok_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;  // No write is begun any more.
  bool half_close_wanted_ ABSL_GUARDED_BY(mutex_) = false;
  bool half_closed_ ABSL_GUARDED_BY(mutex_) = false;

  std::shared_ptr<SpanStream> self_;  // This, while gRPC may call back.
};

}  // namespace stoker

#endif  // STOKER_CLIENT_RECEIVE_SPAN_STREAM_H_
