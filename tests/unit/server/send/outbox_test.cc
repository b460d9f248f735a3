#include "server/send/outbox.h"

#include <memory>

#include "gtest/gtest.h"
#include "server/request/stream_request.h"

namespace stoker {
namespace {

// Remembers what it was told, and never ends a write by itself.
struct FakeCall {
  int writes = 0, finishes = 0;
  absl::Status status;

  std::unique_ptr<Outbox> MakeOutbox() {
    return std::make_unique<Outbox>(Outbox::Transport{.write = [this](const grpc::ByteBuffer*) { ++writes; },
                                                      .finish =
                                                          [this](const absl::Status& with) {
                                                            ++finishes;
                                                            status = with;
                                                          }});
  }
};

FinishedSpan ErrorSpan() {
  FinishedSpan span;
  span.header.mutable_error()->set_kind(v1::ERROR_KIND_SAMPLE);
  return span;
}

TEST(OutboxTest, OneWriteIsInFlightAtATime) {
  FakeCall call;
  auto outbox = call.MakeOutbox();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(outbox->Owe());
    outbox->Deliver(ErrorSpan());
  }
  EXPECT_EQ(call.writes, 1);
  outbox->OnWriteDone(true);
  EXPECT_EQ(call.writes, 2);
}

TEST(OutboxTest, ASpanIsOwedUntilItIsWrittenSoThatAReaderThatStallsCannotFillMemory) {
  FakeCall call;
  auto outbox = call.MakeOutbox();
  int accepted = 0;
  while (outbox->Owe() && accepted < 10 * kMaxOutstandingWants) {
    outbox->Deliver(ErrorSpan());
    ++accepted;
  }
  EXPECT_EQ(accepted, kMaxOutstandingWants);
  outbox->OnWriteDone(true);
  EXPECT_TRUE(outbox->Owe());
}

TEST(OutboxTest, FinishesWhenTheClientWantsNoMoreAndNothingIsOwed) {
  FakeCall call;
  auto outbox = call.MakeOutbox();
  ASSERT_TRUE(outbox->Owe());
  ASSERT_TRUE(outbox->Owe());
  outbox->OnHalfClose();
  outbox->Deliver(ErrorSpan());
  outbox->OnWriteDone(true);
  EXPECT_EQ(call.finishes, 0);
  outbox->Forgive();
  EXPECT_EQ(call.finishes, 1);
  EXPECT_TRUE(call.status.ok());
}

TEST(OutboxTest, FinishesOnceAndAfterTheWriteInFlight) {
  FakeCall call;
  auto outbox = call.MakeOutbox();
  ASSERT_TRUE(outbox->Owe());
  outbox->Deliver(ErrorSpan());
  outbox->Finish(absl::InvalidArgumentError("no"));
  outbox->Finish(absl::CancelledError("gone"));
  EXPECT_EQ(call.finishes, 0);
  outbox->OnWriteDone(false);
  EXPECT_EQ(call.finishes, 1);
  EXPECT_EQ(call.status, absl::InvalidArgumentError("no"));
  EXPECT_FALSE(outbox->Owe());
}

TEST(OutboxTest, DrainIsSaidOnce) {
  FakeCall call;
  auto outbox = call.MakeOutbox();
  outbox->SendDrain();
  outbox->OnWriteDone(true);
  outbox->SendDrain();
  EXPECT_EQ(call.writes, 1);
}

}  // namespace
}  // namespace stoker
