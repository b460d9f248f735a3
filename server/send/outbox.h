#ifndef STOKER_SERVER_SEND_OUTBOX_H_
#define STOKER_SERVER_SEND_OUTBOX_H_

#include <deque>
#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/work/worker_pool.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// What one stream has yet to send, and what it owes. One write is in flight at a time; the rest waits here: at most as
// many spans as may be owed, in slabs that the stream's account bounds. When the client wants no more and nothing is
// owed, the stream finishes.
//
// Thread-safe. Never blocks. Calls the transport without its lock. Workers hold it by shared_ptr and may deliver
// after the stream's end: such spans are dropped.
class Outbox {
 public:
  // The call it writes to. `write` starts one write, whose end is told by OnWriteDone; `finish` ends the call.
  struct Transport {
    std::function<void(const grpc::ByteBuffer*)> write;
    std::function<void(const absl::Status&)> finish;
  };

  explicit Outbox(Transport transport) : transport_(std::move(transport)) {}

  // Counts a span that the client is owed. False if it is owed too many, or the stream has ended.
  bool Owe();

  // A span that is owed no more, since it was cancelled in time.
  void Forgive();

  // Sends what is not a span.
  void Send(const v1::StreamResponse& response);

  // Sends a span that was owed.
  void Deliver(FinishedSpan span);

  // Says once that the server drains.
  void SendDrain();

  // The client wants nothing more: finish when nothing is owed.
  void OnHalfClose();

  void OnWriteDone(bool ok);

  // Ends the call with `status`, once, as soon as no write is in flight. What is queued is dropped.
  void Finish(const absl::Status& status);

  // The call is over: the transport must not be used again.
  void Close();

 private:
  struct Message {
    grpc::ByteBuffer bytes;
    bool owed = false;  // A span: owed until it is written.
  };

  void Enqueue(Message message);

  // Starts a write, or finishes. Called without the lock, after each change.
  void Advance();

  const Transport transport_;

  absl::Mutex mutex_;
  std::deque<Message> queue_ ABSL_GUARDED_BY(mutex_);
  Message in_flight_;  // gRPC's while writing_.
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  int owed_ ABSL_GUARDED_BY(mutex_) = 0;
  bool drain_sent_ ABSL_GUARDED_BY(mutex_) = false;
  bool half_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool finish_wanted_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;  // finish was called, or the call is over
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_SEND_OUTBOX_H_
