// Who may do what: identities, datasets and transports, and what is replaced while streams run.

#include <openssl/evp.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"
#include "stoker/v1/data_service.grpc.pb.h"
#include "tests/support/certificate.h"
#include "tests/support/cluster.h"
#include "tests/support/jwt_signer.h"

namespace stoker {
namespace {

using testing::HasSubstr;

const char* const kDatasets[] = {"open", "of-a", "of-a-and-b", "missing"};

std::string Sha256(const std::string& text) {
  unsigned char hash[32];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), hash, &size, EVP_sha256(), nullptr);
  return absl::BytesToHexString(std::string(reinterpret_cast<char*>(hash), size));
}

// How a client proves who it is. Empty: not at all.
struct Proof {
  std::string certificate, token;
};

class AccessTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = absl::StrCat(testing::TempDir(), "stoker-access-matrix-", getpid());
    std::filesystem::create_directories(folder_);
    MakeCertificate(Path("ca"), CertificateOptions{.names = "", .common_name = "authority"});
    MakeCertificate(Path("server"), CertificateOptions{.authority = Path("ca")});
    for (const char* team : {"team-a", "team-b"})
      MakeCertificate(Path(team), CertificateOptions{.names = absl::StrCat("DNS:", team), .authority = Path("ca")});
    Write("tokens", absl::StrCat(Sha256("token-a"), " team-a\n", Sha256("token-b"), " team-b\n"));
    Write("keys", signer_.Jwks());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name + ".new")) << text;
    std::filesystem::rename(Path(name + ".new"), Path(name));
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  v1::ServerConfig Config() const {
    v1::ServerConfig config = SyntheticConfig(100);
    for (const auto& [name, allow] : std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"open", {}}, {"of-a", {"team-a"}}, {"of-a-and-b", {"team-a", "team-b"}}}) {
      v1::DatasetConfig dataset = SyntheticConfig(100).datasets(0);
      dataset.set_name(name);
      dataset.mutable_allow()->Assign(allow.begin(), allow.end());
      *config.add_datasets() = dataset;
    }
    config.mutable_datasets()->erase(config.mutable_datasets()->begin());
    return config;
  }
  void AddTokens(v1::ServerConfig& config) const {
    config.mutable_access()->set_token_file(Path("tokens"));
    auto& jwt = *config.mutable_access()->add_jwt();
    jwt.set_issuer("https://issuer.example");
    jwt.set_audience("stoker");
    jwt.set_keys_file(Path("keys"));
  }
  void AddTls(v1::ServerConfig& config, std::optional<v1::ClientCertificates> clients = std::nullopt) const {
    config.mutable_tls()->set_certificate_file(Path("server.crt"));
    config.mutable_tls()->set_key_file(Path("server.key"));
    if (!clients.has_value()) return;
    config.mutable_tls()->set_client_ca_file(Path("ca.crt"));
    config.mutable_tls()->set_client_certificates(*clients);
  }

  std::string Jwt(const std::string& subject) const {
    return signer_.Sign(absl::StrCat(R"({"iss": "https://issuer.example", "aud": ["stoker"], "sub": ")", subject,
                                     R"(", "exp": )", absl::ToUnixSeconds(absl::Now()) + 3600, "}"));
  }

  // The status of each call about `dataset`, with the dataset's name taken out of it.
  std::vector<absl::Status> Ask(const std::string& address, bool tls, const Proof& proof, const std::string& dataset,
                                std::string* listed) const {
    grpc::SslCredentialsOptions options{.pem_root_certs = Read("ca.crt")};
    if (!proof.certificate.empty()) {
      options.pem_cert_chain = Read(proof.certificate + ".crt");
      options.pem_private_key = Read(proof.certificate + ".key");
    }
    const auto stub = v1::DataService::NewStub(
        grpc::CreateChannel(address, tls ? grpc::SslCredentials(options) : grpc::InsecureChannelCredentials()));
    std::vector<absl::Status> statuses;
    const auto note = [&](const grpc::Status& status) {
      statuses.emplace_back(static_cast<absl::StatusCode>(status.error_code()),
                            absl::StrReplaceAll(status.error_message(), {{"'" + dataset + "'", "it"}}));
    };
    const auto prepare = [&](grpc::ClientContext& context) {
      if (!proof.token.empty()) context.AddMetadata("authorization", "Bearer " + proof.token);
    };
    {
      grpc::ClientContext context;
      prepare(context);
      v1::ListDatasetsResponse response;
      note(stub->ListDatasets(&context, {}, &response));
      for (const auto& info : response.datasets()) absl::StrAppend(listed, info.name(), " ");
    }
    {
      grpc::ClientContext context;
      prepare(context);
      v1::StatusResponse response;
      EXPECT_EQ(static_cast<absl::StatusCode>(stub->Status(&context, {}, &response).error_code()), statuses[0].code());
      std::string told;
      for (const auto& one : response.datasets()) absl::StrAppend(&told, one.name(), " ");
      EXPECT_EQ(told, *listed) << "it tells of these datasets alone";
    }
    {
      grpc::ClientContext context;
      prepare(context);
      v1::DescribeRequest request;
      request.set_dataset(dataset);
      request.mutable_pipeline();
      v1::DescribeResponse response;
      note(stub->Describe(&context, request, &response));
    }
    {
      grpc::ClientContext context;
      prepare(context);
      v1::ListClassesRequest request;
      request.set_dataset(dataset);
      v1::ListClassesResponse response;
      note(stub->ListClasses(&context, request, &response));
    }
    {
      grpc::ClientContext context;
      prepare(context);
      v1::ListSamplesRequest request;
      request.set_dataset(dataset);
      request.mutable_names()->add_ids(0);
      v1::ListSamplesResponse response;
      note(stub->ListSamples(&context, request, &response));
    }
    {
      grpc::ClientContext context;
      prepare(context);
      const auto stream = stub->Stream(&context);
      v1::StreamRequest request;
      request.mutable_open()->set_dataset(dataset);
      request.mutable_open()->mutable_pipeline();
      stream->Write(request);
      stream->WritesDone();
      v1::StreamResponse response;
      const bool opened = stream->Read(&response) && response.has_opened();
      const grpc::Status status = stream->Finish();
      EXPECT_EQ(opened, status.ok()) << dataset;
      note(status);
    }
    return statuses;
  }

  // Expects that the client reads the datasets in `readable`, a text, and that all others are to it as the one that
  // does not exist.
  void ExpectReads(const std::string& address, bool tls, const Proof& proof, const std::string& readable) const {
    SCOPED_TRACE(absl::StrCat(address, " certificate '", proof.certificate, "' token '", proof.token, "'"));
    std::string ignored;
    const auto missing = Ask(address, tls, proof, "missing", &ignored);
    for (size_t call = 1; call < missing.size(); ++call) EXPECT_TRUE(absl::IsNotFound(missing[call])) << missing[call];
    for (const std::string dataset : kDatasets) {
      std::string listed;
      const auto statuses = Ask(address, tls, proof, dataset, &listed);
      EXPECT_EQ(listed, readable);
      const bool may_read = absl::StrContains(" " + readable, " " + dataset + " ");
      for (size_t call = 1; call < statuses.size(); ++call) {
        if (may_read)
          EXPECT_FALSE(absl::IsNotFound(statuses[call])) << dataset << " " << call << " " << statuses[call];
        else
          EXPECT_EQ(statuses[call], missing[call]) << dataset << " " << call;
      }
      if (may_read) {
        EXPECT_TRUE(statuses[1].ok()) << statuses[1];
        EXPECT_TRUE(statuses[4].ok()) << statuses[4];
      }
    }
  }

  // Expects that no call is answered, with this code.
  void ExpectRefused(const std::string& address, bool tls, const Proof& proof, absl::StatusCode code) const {
    SCOPED_TRACE(absl::StrCat(address, " certificate '", proof.certificate, "' token '", proof.token, "'"));
    std::string listed;
    for (const absl::Status& status : Ask(address, tls, proof, "open", &listed))
      EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(listed, "");
  }

  LoaderOptions Job(const std::string& address, const std::string& dataset) const {
    LoaderOptions options;
    options.servers = {address};
    options.dataset = dataset;
    options.pipeline = v1::Pipeline();
    options.batch_size = 16;
    options.last_batch = LastBatch::kPartial;
    return options;
  }

  const JwtSigner signer_{JwtSigner::Kind::kEc};
  std::string folder_;
};

constexpr char kOpen[] = "open ", kOfA[] = "of-a of-a-and-b open ", kOfB[] = "of-a-and-b open ";

TEST_F(AccessTest, InPlaintextEverybodyIsUnknown) {
  const Cluster cluster(1, Config());
  for (const Proof& proof : {Proof(), Proof{.token = "token-a"}, Proof{.token = "nonsense"}})
    ExpectReads(cluster.addresses()[0], false, proof, kOpen);
}

TEST_F(AccessTest, ThroughAUnixSocketTokensProve) {
  v1::ServerConfig config = Config();
  AddTokens(config);
  config.set_listen("unix:" + Path("socket"));
  const auto server = Server::Start(config);
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string& address = (*server)->address();
  ExpectReads(address, false, {.token = "token-a"}, kOfA);
  ExpectReads(address, false, {.token = "token-b"}, kOfB);
  ExpectReads(address, false, {.token = Jwt("team-b")}, kOfB);
  ExpectReads(address, false, {.token = Jwt("system:serviceaccount:ns:job")}, kOpen);
  for (const Proof& proof : {Proof(), Proof{.token = "token-c"}, Proof{.token = "a.b.c"}})
    ExpectRefused(address, false, proof, absl::StatusCode::kUnauthenticated);
}

TEST_F(AccessTest, ByTlsTokensProve) {
  v1::ServerConfig config = Config();
  AddTokens(config);
  AddTls(config);
  const Cluster cluster(1, config);
  const std::string& address = cluster.addresses()[0];
  ExpectReads(address, true, {.token = "token-a"}, kOfA);
  ExpectReads(address, true, {.token = "token-b"}, kOfB);
  ExpectReads(address, true, {.token = Jwt("team-a")}, kOfA);
  for (const Proof& proof : {Proof(), Proof{.token = "token-c"}, Proof{.certificate = "team-a"}})
    ExpectRefused(address, true, proof, absl::StatusCode::kUnauthenticated);
  ExpectRefused(address, false, {.token = "token-a"}, absl::StatusCode::kUnavailable);
}

TEST_F(AccessTest, WhereCertificatesAreRequiredNobodyWithoutOneGetsBeyondTheHandshake) {
  v1::ServerConfig config = Config();
  AddTokens(config);
  AddTls(config, v1::CLIENT_CERTIFICATES_UNSPECIFIED);
  const Cluster cluster(1, config);
  const std::string& address = cluster.addresses()[0];
  ExpectReads(address, true, {.certificate = "team-a"}, kOfA);
  ExpectReads(address, true, {.certificate = "team-b", .token = "token-a"}, kOfB);
  ExpectReads(address, true, {.certificate = "server"}, kOpen);
  MakeCertificate(Path("stranger"), "DNS:team-a");
  MakeCertificate(Path("expired"),
                  CertificateOptions{.names = "DNS:team-a", .authority = Path("ca"), .life = -absl::Hours(1)});
  for (const Proof& proof : {Proof(), Proof{.token = "token-a"}, Proof{.certificate = "stranger"},
                             Proof{.certificate = "expired", .token = "token-a"}})
    ExpectRefused(address, true, proof, absl::StatusCode::kUnavailable);
}

TEST_F(AccessTest, WhereCertificatesAreOptionalWhoHasOneIsKnownByIt) {
  v1::ServerConfig config = Config();
  AddTls(config, v1::CLIENT_CERTIFICATES_OPTIONAL);
  const Cluster without_tokens(1, config);
  ExpectReads(without_tokens.addresses()[0], true, {}, kOpen);
  ExpectReads(without_tokens.addresses()[0], true, {.certificate = "team-b"}, kOfB);
  AddTokens(config);
  const Cluster with_tokens(1, config);
  const std::string& address = with_tokens.addresses()[0];
  ExpectReads(address, true, {.certificate = "team-a", .token = "token-b"}, kOfA);
  ExpectReads(address, true, {.token = "token-b"}, kOfB);
  ExpectRefused(address, true, {}, absl::StatusCode::kUnauthenticated);
  MakeCertificate(Path("stranger"), "DNS:team-a");
  ExpectRefused(address, true, {.certificate = "stranger", .token = "token-a"}, absl::StatusCode::kUnavailable);
}

TEST_F(AccessTest, TokensInPlaintextAreAnErrorOfTheConfiguration) {
  v1::ServerConfig config = Config();
  AddTokens(config);
  config.set_listen("127.0.0.1:0");
  EXPECT_THAT(std::string(Server::Start(config).status().message()), HasSubstr("access.token_file: "));
}

TEST_F(AccessTest, ALoaderProvesItselfByCertificateOrToken) {
  v1::ServerConfig config = Config();
  AddTokens(config);
  AddTls(config, v1::CLIENT_CERTIFICATES_OPTIONAL);
  const Cluster cluster(1, config);
  LoaderOptions job = Job(cluster.addresses()[0], "of-a");
  job.tls_ca_file = Path("ca.crt");
  EXPECT_TRUE(absl::IsUnauthenticated(RunEpoch(job).status));
  LoaderOptions by_certificate = job, by_token = job, by_another = job;
  by_certificate.tls_cert_file = Path("team-a.crt");
  by_certificate.tls_key_file = Path("team-a.key");
  Write("token", "token-a\n");
  by_token.token_file = Path("token");
  Write("another", "token-b\n");
  by_another.token_file = Path("another");
  EXPECT_TRUE(RunEpoch(by_certificate).status.ok()) << RunEpoch(by_certificate).status;
  EXPECT_EQ(RunEpoch(by_certificate).digest, RunEpoch(by_token).digest);
  const absl::Status hidden = RunEpoch(by_another).status;
  EXPECT_TRUE(absl::IsNotFound(hidden)) << hidden;
  EXPECT_THAT(std::string(hidden.message()), HasSubstr("there are: of-a-and-b, open"));
}

TEST_F(AccessTest, KeptSpansAreGivenToThoseWhoMayReadTheirDatasetAlone) {
  v1::ServerConfig config = Config();
  AddTokens(config);
  config.set_span_cache("16MiB");
  config.set_listen("unix:" + Path("socket"));
  const auto server = Server::Start(config);
  ASSERT_TRUE(server.ok()) << server.status();
  Write("a", "token-a");
  Write("b", "token-b");
  LoaderOptions of_a = Job((*server)->address(), "of-a"), of_b = of_a;
  of_a.token_file = Path("a");
  of_b.token_file = Path("b");
  EXPECT_TRUE(RunEpoch(of_a).status.ok());
  EXPECT_TRUE(absl::IsNotFound(RunEpoch(of_b).status));
}

TEST_F(AccessTest, ATokenIsNeverSentInPlaintext) {
  const Cluster cluster(1, Config());
  Write("token", "token-a");
  LoaderOptions job = Job(cluster.addresses()[0], "open");
  job.token_file = Path("token");
  const absl::Status direct = RunEpoch(job).status;
  EXPECT_TRUE(absl::IsInvalidArgument(direct)) << direct;
  EXPECT_THAT(std::string(direct.message()), HasSubstr("token_file: "));
  Write("servers", cluster.addresses()[0] + "\n");
  job.servers = {"file:" + Path("servers")};
  EXPECT_THAT(std::string(RunEpoch(job).status.message()), HasSubstr("would be sent in plaintext"));
}

TEST_F(AccessTest, AnIdentitysStreamsAreBounded) {
  v1::ServerConfig config = Config();
  AddTokens(config);
  (*config.mutable_access()->mutable_quotas())["team-a"].set_streams(1);
  config.set_listen("unix:" + Path("socket"));
  const auto server = Server::Start(config);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto channel = grpc::CreateChannel((*server)->address(), grpc::InsecureChannelCredentials());
  const auto stub = v1::DataService::NewStub(channel);
  grpc::ClientContext first_context, second_context;
  for (auto* context : {&first_context, &second_context}) context->AddMetadata("authorization", "Bearer token-a");
  const auto first = stub->Stream(&first_context);
  v1::StreamRequest request;
  request.mutable_open()->set_dataset("open");
  request.mutable_open()->mutable_pipeline();
  first->Write(request);
  v1::StreamResponse response;
  ASSERT_TRUE(first->Read(&response));
  const auto second = stub->Stream(&second_context);
  EXPECT_FALSE(second->Read(&response));
  const grpc::Status refused = second->Finish();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("1 streams open here, of 1"));
  first->WritesDone();
  EXPECT_TRUE(first->Finish().ok());
}

TEST_F(AccessTest, FiftyStreamsGoOnWhileAllIsReplacedAndNewOnesGetTheNew) {
  constexpr int kStreams = 50;
  v1::ServerConfig config = Config();
  config.set_memory_limit("8GiB");
  AddTokens(config);
  AddTls(config, v1::CLIENT_CERTIFICATES_OPTIONAL);
  Cluster cluster(1, config);
  Server& server = cluster.server(0);
  // Jobs keep copies of what was good once: one that had to connect again would fail.
  for (const char* name : {"ca.crt", "team-a.crt", "team-a.key"})
    std::filesystem::copy_file(Path(name), Path(absl::StrCat("old-", name)));
  Write("old-token", "token-a");
  LoaderOptions by_token = Job(cluster.addresses()[0], "of-a");
  by_token.tls_ca_file = Path("old-ca.crt");
  LoaderOptions by_certificate = by_token;
  by_token.token_file = Path("old-token");
  by_certificate.tls_cert_file = Path("old-team-a.crt");
  by_certificate.tls_key_file = Path("old-team-a.key");
  std::vector<std::unique_ptr<Loader>> loaders;
  for (int i = 0; i < kStreams; ++i) {
    auto loader = Loader::Create(i % 2 == 0 ? by_token : by_certificate);
    ASSERT_TRUE(loader.ok()) << loader.status();
    const auto batch = (*loader)->Next();
    ASSERT_TRUE(batch.ok()) << batch.status();
    loaders.push_back(*std::move(loader));
  }
  const std::string opened = absl::StrCat(kStreams, " streams opened, 0 ended, 0 refused");
  EXPECT_THAT(server.service_log().Total(), testing::StartsWith(opened));

  MakeCertificate(Path("ca"), CertificateOptions{.names = "", .common_name = "authority"});
  for (const auto& [name, names] :
       std::vector<std::pair<std::string, std::string>>{{"server", "IP:127.0.0.1"}, {"team-a", "DNS:team-a"}})
    MakeCertificate(Path(name), CertificateOptions{.names = names, .authority = Path("ca")});
  Write("tokens", absl::StrCat(Sha256("token-2"), " team-a\n", Sha256("token-b"), " team-b\n"));
  v1::ServerConfig next = config;
  next.mutable_datasets(1)->set_allow(0, "team-b");  // The dataset of-a.
  v1::ServerConfig bad = next;
  bad.mutable_access()->set_token_file(Path("nothing"));
  EXPECT_FALSE(server.Apply(bad).ok());
  ASSERT_TRUE(server.Apply(next).ok());

  for (auto& loader : loaders) {
    const EpochResult rest = RunEpoch(*loader);
    EXPECT_TRUE(rest.status.ok()) << rest.status;
    EXPECT_EQ(rest.sample_ids.size(), 84);
    const EpochResult next_epoch = RunEpoch(*loader);
    EXPECT_TRUE(next_epoch.status.ok()) << next_epoch.status;
    EXPECT_EQ(next_epoch.sample_ids.size(), 100);
  }
  EXPECT_THAT(server.service_log().Total(), testing::StartsWith(opened));

  const std::string& address = cluster.addresses()[0];
  ExpectReads(address, true, {.token = "token-2"}, kOfB);
  ExpectReads(address, true, {.token = "token-b"}, kOfA);
  ExpectReads(address, true, {.certificate = "team-a"}, kOfB);
  ExpectRefused(address, true, {.token = "token-a"}, absl::StatusCode::kUnauthenticated);
  ExpectRefused(address, true, {.certificate = "old-team-a"}, absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace stoker
