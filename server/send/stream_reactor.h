#ifndef STOKER_SERVER_SEND_STREAM_REACTOR_H_
#define STOKER_SERVER_SEND_STREAM_REACTOR_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/observe/audit_log.h"
#include "server/observe/stream_log.h"
#include "server/request/access.h"
#include "server/send/desk.h"
#include "server/send/outbox.h"
#include "server/send/unopened_streams.h"
#include "server/work/engine.h"

namespace stoker {

// One Stream call. It reads wants, hands them to the engine, and writes the spans that the engine makes.
//
// gRPC's threads call it, and worker threads reach it through the outbox. Nothing in it blocks: the desk opens the
// engine's stream, and requests that come meanwhile wait. It owns itself until OnDone; the desk may keep it longer.
class StreamReactor : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                      public std::enable_shared_from_this<StreamReactor> {
 public:
  // What opens streams, and for whom. All must outlive the call.
  struct Opener {
    Engine* engine;
    Desk* desk;
    UnopenedStreams* unopened;
    std::string host;  // the client's
  };

  // Who made the call, which was found out before.
  struct Client {
    AuditLog::Who who;
    Access* access;   // says what the client may read when it opens the stream
    AuditLog* audit;  // is told that, or why the stream was not opened
    std::unique_ptr<Access::Admission> admission;
  };

  // Makes a reactor, which gRPC ends. It refuses the stream if its host has too many that sent no `open` yet. `log` is
  // told what becomes of the stream. `done` is called when the call is over.
  static StreamReactor* Make(Opener opener, Client client, std::shared_ptr<StreamLog> log,
                             std::function<void(StreamReactor*)> done);

  // Who made the call, and what was done for it. Thread-safe.
  const AuditLog::Who& who() const { return client_.who; }
  StreamLog::Figures figures() const { return log_->figures(); }

  // Tells the client that the server is shutting down. Thread-safe.
  void Drain() { outbox_->SendDrain(); }

 private:
  StreamReactor(Opener opener, Client client, std::shared_ptr<StreamLog> log, std::function<void(StreamReactor*)> done);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override { outbox_->OnWriteDone(ok); }
  void OnCancel() override { outbox_->Finish(absl::CancelledError("the client went away")); }
  void OnDone() override;

  // Takes a request, or keeps it until the stream is open.
  absl::Status Take(v1::StreamRequest request);
  absl::Status Handle(Engine::Stream& stream, const v1::StreamRequest& request);

  // OK if the stream may be opened. From then on it gets whatever belongs to it, kept spans of other jobs included.
  absl::Status Check(const v1::Open& open) const;

  // Open runs on the desk's thread. AskToOpen makes the desk call it.
  absl::Status AskToOpen(v1::Open open);
  absl::Status Open(const v1::Open& open, const absl::Status& admitted);

  // Handles what came while the stream was opened.
  absl::Status CatchUp(Engine::Stream& stream);

  const Opener opener_;
  const Client client_;
  const std::function<void(StreamReactor*)> done_;
  const std::shared_ptr<StreamLog> log_;
  const std::shared_ptr<Outbox> outbox_;
  grpc::ByteBuffer read_;
  std::shared_ptr<StreamReactor> self_;  // until OnDone
  // Until `open` comes. Only OnReadDone and OnDone use it, which gRPC never calls at once.
  std::unique_ptr<UnopenedStreams::Ticket> unopened_;

  absl::Mutex mutex_;
  enum class State { kNew, kOpening, kOpen, kDone };
  State state_ ABSL_GUARDED_BY(mutex_) = State::kNew;
  std::shared_ptr<Engine::Stream> stream_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::StreamRequest> early_ ABSL_GUARDED_BY(mutex_);  // what came while it was opened
  bool half_closed_early_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace stoker

#endif  // STOKER_SERVER_SEND_STREAM_REACTOR_H_
