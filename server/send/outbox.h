#ifndef STOKER_SERVER_SEND_OUTBOX_H_
#define STOKER_SERVER_SEND_OUTBOX_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/work/worker_pool.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Holds what one stream has yet to send, and counts the spans that it owes. One write is in flight at a time; other
// messages wait here. The stream finishes when the client wants no more and nothing is owed.
//
// Thread-safe. Never blocks, and calls the transport without its lock. At most kMaxOutstandingWants spans wait, in
// slabs that the stream's account bounds. Workers hold the outbox by shared_ptr and may deliver after the stream's end;
// such spans are dropped.
class Outbox {
 public:
  // The gRPC call that it writes to. `write` starts one write, and the transport's owner calls OnWriteDone when that
  // has ended. `finish` ends the call.
  struct Transport {
    std::function<void(const grpc::ByteBuffer*)> write;
    std::function<void(const absl::Status&)> finish;
    // If set, it is told of each span that was written: its bytes, and how long the write took.
    std::function<void(uint64_t bytes, absl::Duration taken)> sent = nullptr;
  };

  explicit Outbox(Transport transport) : transport_(std::move(transport)) {}

  // Counts one more span that is owed to the client. Returns false, and counts nothing, if kMaxOutstandingWants are
  // owed already or the stream has ended.
  bool Owe();

  // Takes one span off the count, since it was cancelled in time.
  void Forgive();

  // Sends a response that is not a span.
  void Send(const v1::StreamResponse& response);

  // Sends a span that was owed. If its header cannot be sent, an error goes in its place.
  void Deliver(FinishedSpan span);

  // Tells the client that the server drains. Only the first call does something.
  void SendDrain();

  // The client has said that it wants nothing more. Finishes the call once nothing is owed.
  void OnHalfClose();

  // The write in flight has ended. If it failed, the stream is broken and ends.
  void OnWriteDone(bool ok);

  // Ends the call as soon as no write is in flight, and drops what is queued. Of several calls the first one's `status`
  // is sent.
  void Finish(const absl::Status& status);

  // The call is over. The transport is not used again.
  void Close();

 private:
  struct Message {
    grpc::ByteBuffer bytes;
    bool owed = false;  // The message is a span, which counts as owed until it is written.
  };

  void Enqueue(Message message);

  // Starts the next write or finishes the call, if it is time. Every change of the state below ends with it.
  void Advance();

  const Transport transport_;

  absl::Mutex mutex_;
  std::deque<Message> queue_ ABSL_GUARDED_BY(mutex_);
  Message in_flight_;  // While writing_ is true gRPC reads it and nobody else touches it.
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point write_begun_ ABSL_GUARDED_BY(mutex_);
  int owed_ ABSL_GUARDED_BY(mutex_) = 0;
  bool drain_sent_ ABSL_GUARDED_BY(mutex_) = false;
  bool half_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool finish_wanted_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;  // `finish` was called, or the call is over
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_SEND_OUTBOX_H_
