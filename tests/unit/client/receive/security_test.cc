#include "client/receive/security.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/certificate.h"

namespace stoker {
namespace {

class SecurityTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = absl::StrCat(testing::TempDir(), "stoker-security-", getpid());
    std::filesystem::create_directories(folder_);
    MakeCertificate(Path("ca"));
    Write("token", "one\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(Path(name)) << text; }

  std::string folder_;
};

TEST_F(SecurityTest, ATokenIsForTlsAndUnixSocketsAlone) {
  const auto plain = Security::Create({.token_file = Path("token")});
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(**(*plain)->TokenFor("unix:/socket"), "one");
  EXPECT_TRUE(absl::IsFailedPrecondition((*plain)->TokenFor("127.0.0.1:7077").status()));
  const auto tls = Security::Create({.ca_file = Path("ca.crt"), .token_file = Path("token")});
  ASSERT_TRUE(tls.ok()) << tls.status();
  EXPECT_EQ(**(*tls)->TokenFor("cpu1:7077"), "one");
  EXPECT_EQ(*Security().TokenFor("cpu1:7077"), std::nullopt);
}

TEST_F(SecurityTest, FilesThatChangeAreReadAgainAndBadOnesAreNot) {
  MakeCertificate(Path("client"));
  const auto security = Security::Create({.ca_file = Path("ca.crt"),
                                          .certificate_file = Path("client.crt"),
                                          .key_file = Path("client.key"),
                                          .token_file = Path("token")});
  ASSERT_TRUE(security.ok()) << security.status();
  const auto before = (*security)->tls();
  (*security)->Refresh();
  EXPECT_EQ((*security)->tls(), before) << "nothing changed, so connections stay";
  Write("token", "two");
  Write("client.key", "nothing");
  (*security)->Refresh();
  EXPECT_EQ(**(*security)->TokenFor("cpu1:7077"), "two");
  EXPECT_EQ((*security)->tls(), before);
  Write("token", "");
  MakeCertificate(Path("client"));
  (*security)->Refresh();
  EXPECT_EQ(**(*security)->TokenFor("cpu1:7077"), "two");
  EXPECT_GT((*security)->tls()->number, before->number);
  EXPECT_NE((*security)->tls()->key, before->key);
}

}  // namespace
}  // namespace stoker
