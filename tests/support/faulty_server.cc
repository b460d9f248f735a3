#include "tests/support/faulty_server.h"

#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "stoker/v1/data_service.grpc.pb.h"

namespace stoker {

class FaultyServer::Service : public v1::DataService::Service {
 public:
  Service(const std::string& target, const Faults& faults, Counts* counts)
      : faults_(faults), counts_(counts), stub_(v1::DataService::NewStub(ChannelTo(target))) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Service() override { server_->Shutdown(std::chrono::system_clock::now()); }

  int port() const { return port_; }

  grpc::Status ListDatasets(grpc::ServerContext*, const v1::ListDatasetsRequest* request,
                            v1::ListDatasetsResponse* response) override {
    grpc::ClientContext context;
    return stub_->ListDatasets(&context, *request, response);
  }

  grpc::Status Describe(grpc::ServerContext*, const v1::DescribeRequest* request,
                        v1::DescribeResponse* response) override {
    grpc::ClientContext context;
    return stub_->Describe(&context, *request, response);
  }

  grpc::Status Stream(grpc::ServerContext*,
                      grpc::ServerReaderWriter<v1::StreamResponse, v1::StreamRequest>* client) override {
    grpc::ClientContext context;
    const auto server = stub_->Stream(&context);
    const uint64_t seed = faults_.seed + 2 * streams_++;  // Each stream has faults of its own.
    std::thread answers([&] { PassAnswers(*server, *client, seed + 1); });
    std::mt19937_64 random(seed);
    for (v1::StreamRequest request; client->Read(&request);) {
      if (request.has_want() && Happens(faults_.lose_wants, random)) {
        ++counts_->lost;
      } else if (!server->Write(request)) {
        break;
      }
    }
    context.TryCancel();
    answers.join();
    return grpc::Status::OK;
  }

 private:
  static std::shared_ptr<grpc::Channel> ChannelTo(const std::string& target) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
  }

  static bool Happens(double part, std::mt19937_64& random) {
    return std::uniform_real_distribution<>()(random) < part;
  }

  void PassAnswers(grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>& server,
                   grpc::ServerReaderWriter<v1::StreamResponse, v1::StreamRequest>& client, uint64_t seed) {
    std::mt19937_64 random(seed);
    for (v1::StreamResponse response; server.Read(&response);) {
      int times = 1;
      if (response.has_span()) {
        if (Happens(faults_.lose_spans, random)) ++counts_->lost, times = 0;
        if (times > 0 && Happens(faults_.double_spans, random)) ++counts_->doubled, times = 2;
        if (times > 0 && Happens(faults_.corrupt_spans, random))
          ++counts_->corrupted, Corrupt(*response.mutable_span(), random);
      }
      for (; times > 0; --times) client.Write(response);
    }
  }

  // Changes a byte of the payload, or a number of the header, and leaves the checksum as it is.
  static void Corrupt(v1::Span& span, std::mt19937_64& random) {
    std::string& payload = *span.mutable_payload();
    if (!payload.empty() && random() % 4 > 0) {
      payload[random() % payload.size()] ^= static_cast<char>(1 << random() % 8);
    } else if (span.header().sample_ids_size() > 0) {
      span.mutable_header()->set_sample_ids(0, span.header().sample_ids(0) + 1);
    }
  }

  const Faults faults_;
  std::atomic<uint64_t> streams_ = 0;
  Counts* const counts_;
  const std::unique_ptr<v1::DataService::Stub> stub_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

FaultyServer::FaultyServer(const std::string& target, const Faults& faults)
    : service_(std::make_unique<Service>(target, faults, &counts_)) {
  address_ = absl::StrCat("127.0.0.1:", service_->port());
}

FaultyServer::~FaultyServer() = default;

}  // namespace stoker
