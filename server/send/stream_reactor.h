#ifndef STOKER_SERVER_SEND_STREAM_REACTOR_H_
#define STOKER_SERVER_SEND_STREAM_REACTOR_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/observe/stream_log.h"
#include "server/send/outbox.h"
#include "server/work/engine.h"

namespace stoker {

// One Stream call. It reads wants, hands them to the engine, and writes the spans that the engine makes.
//
// gRPC's threads call it, and worker threads reach it through the outbox. Nothing in it blocks. It owns itself: OnDone
// deletes it.
class StreamReactor : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // `log` is told what becomes of the stream. `done` is called when the call is over, just before the reactor is
  // deleted.
  StreamReactor(Engine* engine, std::shared_ptr<StreamLog> log, std::function<void(StreamReactor*)> done);

  // Tells the client that the server is shutting down. Thread-safe.
  void Drain() { outbox_->SendDrain(); }

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override { outbox_->OnWriteDone(ok); }
  void OnCancel() override { outbox_->Finish(absl::CancelledError("the client went away")); }
  void OnDone() override;

  absl::Status Handle(const v1::StreamRequest& request);
  absl::Status HandleOpen(const v1::Open& open);

  Engine* const engine_;
  const std::function<void(StreamReactor*)> done_;
  const std::shared_ptr<StreamLog> log_;
  const std::shared_ptr<Outbox> outbox_;
  grpc::ByteBuffer read_;

  // Set by the first request. Needs no lock, since only OnReadDone and OnDone use it, which gRPC never calls at once.
  std::unique_ptr<Engine::Stream> stream_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_SEND_STREAM_REACTOR_H_
