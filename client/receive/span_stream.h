#ifndef STOKER_CLIENT_RECEIVE_SPAN_STREAM_H_
#define STOKER_CLIENT_RECEIVE_SPAN_STREAM_H_

#include <deque>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "common/identity/span_id.h"
#include "common/wire/span_codec.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/generic/generic_stub.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// One Stream call to one server. Thread-safe; never blocks. Ends by itself when the server ends it; keeps itself
// alive until then.
class SpanStream : public std::enable_shared_from_this<SpanStream> {
 public:
  // What a stream tells, one call at a time, on the transport's thread.
  class Handler {
   public:
    virtual ~Handler() = default;

    // The server is ready; not OK ends the stream with this status (it is not the server that was expected).
    virtual absl::Status OnOpened(const v1::Opened& opened) = 0;

    // A span; its slices go when this returns.
    virtual void OnSpan(const SpanMessage& span) = 0;

    // The server wants no more wants, and will end the stream when it has sent what it owes.
    virtual void OnDrain() = 0;

    // The last call: why the stream ended.
    virtual void OnClosed(const absl::Status& status) = 0;
  };

  SpanStream(std::shared_ptr<grpc::Channel> channel, grpc::CompletionQueue* queue, std::shared_ptr<Handler> handler);

  // Asks for a span. False if the stream was half-closed or broke: it was not asked for.
  bool Want(const SpanId& span);

  // Takes a want back.
  void Cancel(const SpanId& span);

  // Says that nothing more will be wanted: the server sends what it owes and ends the stream.
  void HalfClose();

  // Ends the stream at once; OnClosed follows.
  void Abort();

 private:
  friend class Transport;

  enum class Event { kStarted, kRead, kWritten, kFinished };
  // What the completion queue hands back.
  struct Tag {
    SpanStream* stream;
    Event event;
  };

  void Start(const v1::Open& open);
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

  // The transport's thread's.
  grpc::ByteBuffer incoming_;
  grpc::Status status_;
  absl::Status refusal_;  // Ours, which says more than the status that follows from it.
  bool finishing_ = false;
  bool closed_ = false;

  absl::Mutex mutex_;
  std::deque<grpc::ByteBuffer> outgoing_ ABSL_GUARDED_BY(mutex_);
  bool started_ok_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;  // No further write is begun.
  bool half_close_wanted_ ABSL_GUARDED_BY(mutex_) = false;
  bool half_closed_ ABSL_GUARDED_BY(mutex_) = false;

  std::shared_ptr<SpanStream> self_;  // While gRPC may call back.
};

}  // namespace stoker

#endif  // STOKER_CLIENT_RECEIVE_SPAN_STREAM_H_
