// Any language's generated stub can be a client: here C++'s, with nothing of ours but the messages.

#include <xxhash.h>

#include <thread>

#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"
#include "stoker/v1/data_service.grpc.pb.h"
#include "tests/support/cluster.h"

namespace stoker {
namespace {

class StockClientTest : public testing::Test {
 protected:
  using Stream = grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>;

  void SetUp() override {
    stub_ = v1::DataService::NewStub(grpc::CreateChannel(cluster_.addresses()[0], grpc::InsecureChannelCredentials()));
    stream_ = stub_->Stream(&context_);
  }

  v1::StreamResponse Read() {
    v1::StreamResponse response;
    EXPECT_TRUE(stream_->Read(&response)) << stream_->Finish().error_message();
    return response;
  }

  void Open() {
    v1::StreamRequest open;
    open.mutable_open()->set_dataset("synthetic");
    open.mutable_open()->mutable_pipeline();
    ASSERT_TRUE(stream_->Write(open));
    ASSERT_TRUE(Read().has_opened());
  }

  void Want(uint64_t start, uint32_t count) {
    v1::StreamRequest want;
    want.mutable_want()->set_start(start);
    want.mutable_want()->set_count(count);
    ASSERT_TRUE(stream_->Write(want));
  }

  // The status that a stream of these requests ends with.
  grpc::Status EndOf(const std::vector<v1::StreamRequest>& requests) {
    for (const auto& request : requests) stream_->Write(request);
    v1::StreamResponse response;
    while (stream_->Read(&response)) {
    }
    return stream_->Finish();
  }

  Cluster cluster_{1, SyntheticConfig(100)};
  std::unique_ptr<v1::DataService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<Stream> stream_;
};

TEST_F(StockClientTest, ReadsSpansThatTheFastPathWrote) {
  Open();
  Want(8, 4);
  const v1::StreamResponse response = Read();
  ASSERT_TRUE(response.has_span());
  const v1::Span& span = response.span();
  EXPECT_EQ(span.header().start(), 8);
  EXPECT_EQ(span.header().sample_ids_size(), 4);
  EXPECT_EQ(span.payload().size(), 4 * (16 * 12 * 3 + 4));
  const std::string header = span.header().SerializeAsString();
  const uint64_t payload_hash = XXH3_64bits(span.payload().data(), span.payload().size());
  EXPECT_EQ(XXH3_64bits_withSeed(header.data(), header.size(), payload_hash), span.checksum());
}

TEST_F(StockClientTest, GetsWhatItIsOwedAfterHalfClosing) {
  Open();
  for (uint64_t start = 0; start < 96; start += 8) Want(start, 8);
  stream_->WritesDone();
  v1::StreamResponse response;
  int spans = 0;
  while (stream_->Read(&response)) spans += response.has_span();
  EXPECT_EQ(spans, 12);
  EXPECT_TRUE(stream_->Finish().ok());
}

TEST_F(StockClientTest, GetsWhatItWantedBeforeTheStreamWasOpen) {
  v1::StreamRequest request;
  request.mutable_open()->set_dataset("synthetic");
  request.mutable_open()->mutable_pipeline();
  ASSERT_TRUE(stream_->Write(request));
  for (uint64_t start = 0; start < 96; start += 8) Want(start, 8);
  stream_->WritesDone();
  ASSERT_TRUE(Read().has_opened());
  v1::StreamResponse response;
  int spans = 0;
  while (stream_->Read(&response)) spans += response.has_span();
  EXPECT_EQ(spans, 12);
  EXPECT_TRUE(stream_->Finish().ok());
}

// Some 50 KB that ask for many hours of work: turns of 16 million pixels, in 64 views.
TEST_F(StockClientTest, IsRefusedWhatCostsTooMuchWithTheFigures) {
  v1::StreamRequest request;
  request.mutable_open()->set_dataset("synthetic");
  for (int group = 0; group < 16; ++group) {
    v1::Views& views = *request.mutable_open()->mutable_pipeline()->add_views();
    views.set_name("view" + std::to_string(group));
    views.set_count(4);
    v1::Resize& resize = *views.add_ops()->mutable_resize();
    resize.add_size(4096);
    resize.add_size(4096);
    for (int i = 0; i < 60; ++i) views.add_ops()->mutable_random_rotation()->add_degrees(30);
    views.add_ops()->mutable_center_crop()->add_size(1);
  }
  const grpc::Status status = EndOf({request});
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), testing::HasSubstr("s of one worker"));
  EXPECT_THAT(status.error_message(), testing::HasSubstr("limits.sample_seconds is 10"));
}

TEST_F(StockClientTest, IsRefusedMorePassesThanAPlanMayHave) {
  v1::StreamRequest request;
  request.mutable_open()->set_dataset("synthetic");
  auto& ops = *request.mutable_open()->mutable_pipeline()->mutable_ops();
  for (int i = 0; i < 64; ++i) {
    v1::RandomApply& apply = *ops.Add()->mutable_random_apply();
    for (int j = 0; j < 64; ++j) apply.add_transforms()->mutable_rand_augment()->set_num_ops(64);
  }
  EXPECT_THAT(EndOf({request}).error_message(), testing::HasSubstr("262144 passes over one image, at most 4096"));
}

// A client cannot have waited for longer than its stream is there, whatever it says.
TEST_F(StockClientTest, SaysHowLongItWaited) {
  const absl::Time begun = absl::Now();
  v1::StreamRequest open;
  open.mutable_open()->set_dataset("synthetic");
  open.mutable_open()->mutable_pipeline();
  ASSERT_TRUE(stream_->Write(open));
  EXPECT_TRUE(Read().opened().takes_reports());
  for (const uint64_t waited : {uint64_t{1'000}, uint64_t{2'000}, ~uint64_t{0}}) {
    v1::StreamRequest report;
    report.mutable_report()->set_waited(waited);
    report.mutable_report()->set_streams(waited == 2'000 ? 2 : 0);
    ASSERT_TRUE(stream_->Write(report));
  }
  Want(0, 8);
  EXPECT_TRUE(Read().has_span()) << "what came before was taken";
  grpc::ClientContext context;
  v1::StatusResponse status;
  ASSERT_TRUE(stub_->Status(&context, {}, &status).ok());
  ASSERT_EQ(status.datasets_size(), 1);
  EXPECT_EQ(status.datasets(0).streams(), 1);
  EXPECT_GE(status.datasets(0).samples(), 8);
  EXPECT_GE(status.datasets(0).client_wait_seconds(), 2e-6);
  EXPECT_NEAR(status.datasets(0).whole_client_wait_seconds() - status.datasets(0).client_wait_seconds(), 1e-6, 1e-9);
  EXPECT_LE(status.datasets(0).client_wait_seconds(), absl::ToDoubleSeconds(absl::Now() - begun));
}

TEST_F(StockClientTest, AskedTwiceGetsTheSameBytesTwice) {
  Open();
  Want(0, 8);
  Want(0, 8);
  const v1::StreamResponse first = Read(), second = Read();
  EXPECT_EQ(first.span().payload(), second.span().payload());
}

// grpc.health.v1, whose proto Debian does not package: an empty request asks for the whole server, and a response's
// first field is 1 for SERVING, 2 for NOT_SERVING.
std::string Health(const std::string& address) {
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const grpc::Slice empty("");
  const grpc::ByteBuffer request(&empty, 1);
  grpc::ByteBuffer response;
  grpc::Status status;
  auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
  call->StartCall();
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  grpc::Slice slice;
  return status.ok() && response.DumpToSingleSlice(&slice).ok() ? std::string(slice.begin(), slice.end()) : "failed";
}

TEST_F(StockClientTest, HealthIsServingUntilItDrains) {
  Open();  // Holds the drain up.
  EXPECT_EQ(Health(cluster_.addresses()[0]), "\x08\x01");
  std::thread drain([&] { EXPECT_TRUE(cluster_.server(0).Drain()); });
  EXPECT_TRUE(Read().has_drain());
  EXPECT_EQ(Health(cluster_.addresses()[0]), "\x08\x02");
  Want(0, 8);  // It was on its way.
  EXPECT_TRUE(Read().has_span());
  stream_->WritesDone();
  drain.join();
  EXPECT_TRUE(stream_->Finish().ok());
}

TEST_F(StockClientTest, WantsBeforeOpenAreRefused) {
  v1::StreamRequest want;
  want.mutable_want()->set_count(1);
  const auto status = EndOf({want});
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "the first message of a stream must be `open`");
}

TEST_F(StockClientTest, WantsThatCannotBeAreRefusedWithTheFigures) {
  Open();
  v1::StreamRequest want;
  want.mutable_want()->set_start(~uint64_t{0} - 1);
  want.mutable_want()->set_count(4096);
  const auto status = EndOf({want});
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), testing::HasSubstr("reach past the epoch's 100 samples"));
}

TEST_F(StockClientTest, TooManyWantsAreRefused) {
  Open();
  v1::StreamRequest want;
  want.mutable_want()->set_count(100);
  const auto status = EndOf(std::vector<v1::StreamRequest>(200'000, want));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
}

TEST_F(StockClientTest, ARequestThatIsTooLargeIsRefused) {
  v1::StreamRequest open;
  open.mutable_open()->set_dataset(std::string(100'000, 'a'));
  EXPECT_EQ(EndOf({open}).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(RunEpoch({.servers = cluster_.addresses(), .batch_size = 10}).status.ok()) << "and others go on";
}

TEST(FieldKindTest, AClientThatDoesNotKnowAKindIsRefusedAndOneThatLeavesTheFieldOutIsNot) {
  v1::ServerConfig config = SyntheticConfig(100);
  v1::SyntheticField& mask = *config.mutable_datasets(0)->mutable_synthetic()->add_fields();
  mask.set_name("mask");
  mask.set_dtype(v1::DTYPE_UINT8);
  for (int extent : {16, 12}) mask.add_shape(extent);
  mask.set_kind(v1::FIELD_KIND_BINARY_MAP);
  Cluster cluster(1, config);
  const auto stub =
      v1::DataService::NewStub(grpc::CreateChannel(cluster.addresses()[0], grpc::InsecureChannelCredentials()));
  const auto open = [&](const v1::Open& asked) {
    grpc::ClientContext context;
    const auto stream = stub->Stream(&context);
    v1::StreamRequest request;
    *request.mutable_open() = asked;
    stream->Write(request);
    stream->WritesDone();
    v1::StreamResponse response;
    while (stream->Read(&response)) {
    }
    return stream->Finish();
  };
  v1::Open asked;
  asked.set_dataset("synthetic");
  asked.mutable_pipeline();
  const grpc::Status refused = open(asked);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(
      refused.error_message(),
      "field 'mask' is a binary_map, which this client does not know; upgrade the client, or leave the field out by "
      "pipeline.fields");
  asked.add_known_kinds(v1::FIELD_KIND_LABEL_MAP);
  EXPECT_FALSE(open(asked).ok());
  asked.add_known_kinds(v1::FIELD_KIND_BINARY_MAP);
  EXPECT_TRUE(open(asked).ok());
  asked.clear_known_kinds();
  asked.mutable_pipeline()->add_fields("image");
  EXPECT_TRUE(open(asked).ok());
  asked.mutable_pipeline()->mutable_native_size()->set_max_pixels(1000);
  EXPECT_EQ(open(asked).error_message().substr(0, 34), "field 'image' is a ragged_image, w");
  asked.add_known_kinds(v1::FIELD_KIND_RAGGED_IMAGE);
  EXPECT_TRUE(open(asked).ok());
}

}  // namespace
}  // namespace stoker
