// TLS between clients and servers.

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/certificate.h"
#include "tests/support/cluster.h"

namespace stoker {
namespace {

using testing::HasSubstr;

class TlsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = absl::StrCat(testing::TempDir(), "stoker-tls-", getpid());
    std::filesystem::create_directories(folder_);
    MakeCertificate(Path("server"));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  v1::ServerConfig Config(const std::string& name) const {
    v1::ServerConfig config = SyntheticConfig(100);
    config.mutable_tls()->set_certificate_file(Path(name + ".crt"));
    config.mutable_tls()->set_key_file(Path(name + ".key"));
    return config;
  }

  static LoaderOptions Job(const Cluster& cluster, const std::string& ca_file) {
    LoaderOptions options;
    options.servers = cluster.addresses();
    options.tls_ca_file = ca_file;
    options.pipeline = v1::Pipeline();
    options.batch_size = 16;
    options.last_batch = LastBatch::kPartial;
    return options;
  }

  static absl::Status ConnectStatus(const Cluster& cluster, const std::string& ca_file) {
    const auto client = Client::Create(
        {.servers = cluster.addresses(), .connect_timeout = absl::Milliseconds(500), .tls_ca_file = ca_file});
    return client.ok() ? (*client)->ListDatasets().status() : client.status();
  }

  std::string folder_;
};

TEST_F(TlsTest, AnEpochHasTheDigestThatItHasWithout) {
  const Cluster plain(1, SyntheticConfig(100)), tls(2, Config("server"));
  const EpochResult epoch = RunEpoch(Job(tls, Path("server.crt")));
  EXPECT_TRUE(epoch.status.ok()) << epoch.status;
  EXPECT_EQ(epoch.digest, RunEpoch(Job(plain, "")).digest);
}

TEST_F(TlsTest, AClientRefusesAnotherAuthority) {
  MakeCertificate(Path("other"));
  const Cluster cluster(1, Config("server"));
  EXPECT_TRUE(absl::IsUnavailable(ConnectStatus(cluster, Path("other.crt"))));
}

TEST_F(TlsTest, AClientRefusesACertificateOfAnotherHostUnlessItIsNamed) {
  MakeCertificate(Path("far"), "DNS:cpu1.example");
  const Cluster cluster(1, Config("far"));
  EXPECT_TRUE(absl::IsUnavailable(ConnectStatus(cluster, Path("far.crt"))));
  const auto client = Client::Create(
      {.servers = cluster.addresses(), .tls_ca_file = Path("far.crt"), .tls_server_name = "cpu1.example"});
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE((*client)->ListDatasets().ok());
}

TEST_F(TlsTest, WithoutTlsNothingComesThrough) {
  const Cluster tls(1, Config("server")), plain(1, SyntheticConfig(10));
  EXPECT_FALSE(ConnectStatus(tls, "").ok());
  EXPECT_FALSE(ConnectStatus(plain, Path("server.crt")).ok());
}

// What a client says that would wait for longer than this test may last, were the verdict not certain.
std::string Said(Client::Options options, const Cluster& cluster) {
  options.servers = cluster.addresses();
  options.connect_timeout = absl::Seconds(600);
  const auto client = Client::Create(std::move(options));
  const absl::Status status = client.ok() ? (*client)->ListDatasets().status() : client.status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::StartsWith("no server can be reached ("));
  return std::string(status.message());
}

TEST_F(TlsTest, WhatIsWrongIsSaidAtOnce) {
  const Cluster tls(1, Config("server")), plain(1, SyntheticConfig(10));
  EXPECT_THAT(Said({}, tls), HasSubstr("it speaks TLS, and this client plaintext"));
  EXPECT_THAT(Said({.tls_ca_file = Path("server.crt")}, plain), HasSubstr("it speaks plaintext, and this client TLS"));
  MakeCertificate(Path("other"));
  EXPECT_THAT(Said({.tls_ca_file = Path("other.crt")}, tls), HasSubstr("by an authority that is unknown here"));
  EXPECT_THAT(Said({.tls_ca_file = Path("server.crt"), .tls_server_name = "cpu1.example"}, tls),
              HasSubstr("its certificate is for 127.0.0.1, and not for cpu1.example"));
  MakeCertificate(Path("expired"), CertificateOptions{.life = -absl::Hours(1)});
  const Cluster expired(1, Config("expired"));
  EXPECT_THAT(Said({.tls_ca_file = Path("expired.crt")}, expired), HasSubstr("has expired: it is good from "));
}

TEST_F(TlsTest, WhatIsWrongWithTheClientsCertificateIsSaidAtOnce) {
  MakeCertificate(Path("clients"));
  MakeCertificate(Path("stranger"));
  MakeCertificate(Path("expired"), CertificateOptions{.authority = Path("clients"), .life = -absl::Hours(1)});
  v1::ServerConfig config = Config("server");
  config.mutable_tls()->set_client_ca_file(Path("clients.crt"));
  const Cluster cluster(1, config);
  const auto by = [&](const std::string& name) {
    return Client::Options{
        .tls_ca_file = Path("server.crt"), .tls_cert_file = Path(name + ".crt"), .tls_key_file = Path(name + ".key")};
  };
  EXPECT_THAT(Said({.tls_ca_file = Path("server.crt")}, cluster), HasSubstr("it wants a certificate of its clients"));
  EXPECT_THAT(Said(by("stranger"), cluster), HasSubstr("it refuses this client's certificate; did an authority"));
  EXPECT_THAT(Said(by("expired"), cluster), HasSubstr("it refuses this client's certificate, which is good from "));
}

TEST_F(TlsTest, AClientsFilesAreCheckedWhenItIsMade) {
  MakeCertificate(Path("other"));
  const auto said = [&](const std::string& certificate, const std::string& key, const std::string& token = "") {
    return std::string(Client::Create({.servers = {"a"},
                                       .tls_ca_file = Path("server.crt"),
                                       .tls_cert_file = certificate,
                                       .tls_key_file = key,
                                       .token_file = token})
                           .status()
                           .message());
  };
  EXPECT_THAT(said(Path("other.crt"), ""), HasSubstr("tls_key_file: must be given"));
  EXPECT_THAT(said("", Path("other.key")), HasSubstr("tls_cert_file: must be given"));
  EXPECT_THAT(said(Path("other.crt"), Path("server.key")), HasSubstr("tls_key_file: "));
  EXPECT_THAT(said("", "", Path("nothing")), HasSubstr("token_file: cannot be read"));
  std::ofstream(Path("token")) << "two words";
  EXPECT_THAT(said("", "", Path("token")), HasSubstr("token_file: "));
  EXPECT_EQ(said(Path("other.crt"), Path("other.key")), "");
}

TEST_F(TlsTest, FilesThatAreNoneAreNamed) {
  v1::ServerConfig config = Config("server");
  config.set_listen("127.0.0.1:0");
  config.mutable_tls()->set_key_file(Path("nothing"));
  EXPECT_THAT(std::string(Server::Start(config).status().message()), HasSubstr("tls.key_file: "));
  config.mutable_tls()->set_key_file(Path("server.crt"));
  EXPECT_THAT(std::string(Server::Start(config).status().message()), HasSubstr("holds no PRIVATE KEY in PEM"));
  EXPECT_THAT(std::string(Client::Create({.servers = {"a"}, .tls_ca_file = Path("server.key")}).status().message()),
              HasSubstr("tls_ca_file: "));
}

TEST_F(TlsTest, NewConnectionsGetACertificateThatWasReplacedAndOpenStreamsGoOn) {
  Cluster cluster(1, Config("server"));
  const std::string old_ca = Path("old.crt");
  std::filesystem::copy_file(Path("server.crt"), old_ca);
  auto loader = Loader::Create(Job(cluster, old_ca));
  ASSERT_TRUE(loader.ok()) << loader.status();
  ASSERT_TRUE((*loader)->Next().ok());
  MakeCertificate(Path("server"));
  EXPECT_TRUE(cluster.server(0).Refresh().ok());
  EXPECT_TRUE(ConnectStatus(cluster, Path("server.crt")).ok());
  EXPECT_TRUE(absl::IsUnavailable(ConnectStatus(cluster, old_ca)));
  EXPECT_TRUE(RunEpoch(**loader).status.ok());
  EXPECT_TRUE(cluster.server(0).problem().empty());
}

TEST_F(TlsTest, ABadNewPairIsSaidAndTheOldOneServesOn) {
  Cluster cluster(1, Config("server"));
  const std::string old_ca = Path("old.crt");
  std::filesystem::copy_file(Path("server.crt"), old_ca);
  MakeCertificate(Path("other"));
  const auto expect = [&](const std::string& problem) {
    EXPECT_THAT(std::string(cluster.server(0).Refresh().message()), HasSubstr(problem));
    EXPECT_THAT(cluster.server(0).problem(), HasSubstr(problem));
    EXPECT_TRUE(ConnectStatus(cluster, old_ca).ok()) << problem;
  };
  const auto replace = [&](const std::string& from, const std::string& to) {
    std::filesystem::copy_file(Path(from), Path(to), std::filesystem::copy_options::overwrite_existing);
  };
  replace("other.crt", "server.crt");
  expect("is not the key of the certificate");
  std::ofstream(Path("server.crt")) << "nothing";
  expect("holds no CERTIFICATE in PEM");
  std::filesystem::remove(Path("server.crt"));
  expect("No such file");
  MakeCertificate(Path("expired"), CertificateOptions{.life = -absl::Hours(1)});
  replace("expired.crt", "server.crt");
  replace("expired.key", "server.key");
  expect("expired at ");
  replace("other.crt", "server.crt");
  replace("other.key", "server.key");
  EXPECT_TRUE(cluster.server(0).Refresh().ok());
  EXPECT_EQ(cluster.server(0).problem(), "");
  EXPECT_TRUE(ConnectStatus(cluster, Path("other.crt")).ok());
}

TEST_F(TlsTest, AKeyOfAnotherCertificateIsRefusedAtTheStart) {
  MakeCertificate(Path("other"));
  v1::ServerConfig config = Config("server");
  config.set_listen("127.0.0.1:0");
  config.mutable_tls()->set_key_file(Path("other.key"));
  EXPECT_THAT(std::string(Server::Start(config).status().message()),
              testing::AllOf(HasSubstr("tls.key_file: "), HasSubstr("is not the key of the certificate")));
}

TEST_F(TlsTest, AnOpenAddressNeedsACertificateOrAWord) {
  v1::ServerConfig config = SyntheticConfig(10);
  config.set_listen("0.0.0.0:0");
  EXPECT_THAT(std::string(Server::Start(config).status().message()), HasSubstr("--tls-cert"));
  v1::ServerConfig secured = Config("server");
  secured.set_listen("0.0.0.0:0");
  EXPECT_TRUE(Server::Start(secured).ok());
}

}  // namespace
}  // namespace stoker
