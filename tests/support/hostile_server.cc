#include "tests/support/hostile_server.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace stoker {
namespace {

// Answers one call when its first request is there. Deletes itself.
class Reactor : public grpc::ServerGenericBidiReactor {
 public:
  Reactor(grpc::GenericCallbackServerContext* context, const HostileServer::Answers& answers)
      : context_(context), answers_(answers) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    const std::string& path = context_->method();
    answer_ = answers_(path.substr(path.rfind('/') + 1));
    for (const auto& [name, value] : answer_.headers) context_->AddInitialMetadata(name, value);
    if (answer_.gzip) context_->set_compression_algorithm(GRPC_COMPRESS_GZIP);
    SendNext();
  }

  void OnWriteDone(bool ok) override { ok ? SendNext() : Finish(grpc::Status::OK); }
  void OnDone() override { delete this; }

 private:
  void SendNext() {
    if (sent_ == answer_.messages.size())
      return Finish(answer_.error.empty() ? grpc::Status::OK
                                          : grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, answer_.error));
    const grpc::Slice slice(answer_.messages[sent_++]);
    message_ = grpc::ByteBuffer(&slice, 1);
    StartWrite(&message_);
  }

  grpc::GenericCallbackServerContext* const context_;
  const HostileServer::Answers& answers_;
  grpc::ByteBuffer request_, message_;
  HostileServer::Answer answer_;
  size_t sent_ = 0;
};

}  // namespace

class HostileServer::Service : public grpc::CallbackGenericService {
 public:
  explicit Service(Answers answers) : answers_(std::move(answers)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
  }
  ~Service() override { server_->Shutdown(std::chrono::system_clock::now()); }

  int port() const { return port_; }

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    return new Reactor(context, answers_);
  }

 private:
  const Answers answers_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

HostileServer::HostileServer(Answers answers) : service_(std::make_unique<Service>(std::move(answers))) {
  address_ = absl::StrCat("127.0.0.1:", service_->port());
}

HostileServer::~HostileServer() = default;

}  // namespace stoker
