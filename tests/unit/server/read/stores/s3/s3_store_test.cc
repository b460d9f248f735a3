#include "server/read/stores/s3/s3_store.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/http_server.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Request = HttpServer::Request;
using Reply = HttpServer::Reply;

absl::StatusOr<std::unique_ptr<S3Store>> OpenAt(const std::string& root, const std::string& endpoint,
                                                bool anonymous = false) {
  v1::S3Store config;
  config.set_endpoint(endpoint);
  config.set_anonymous(anonymous);
  S3Store::Options options;
  options.limits.first_pause = absl::Milliseconds(1);
  options.environment = [](const std::string& name) -> std::string {
    static const std::map<std::string, std::string> values = {
        {"AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"}, {"AWS_SECRET_ACCESS_KEY", "hidden"}, {"HOME", "/nonexistent"}};
    const auto found = values.find(name);
    return found == values.end() ? "" : found->second;
  };
  return S3Store::Open(root, config, std::move(options));
}

TEST(S3StoreTest, TellsFoldersByADelimiter) {
  std::vector<std::string> targets;
  HttpServer server([&](const Request& request) {
    targets.push_back(request.target);
    return Reply{.body =
                     "<ListBucketResult><Contents><Key>train/x</Key><Size>1</Size></Contents><CommonPrefixes><Prefix>"
                     "train/b+c/</Prefix></CommonPrefixes><CommonPrefixes><Prefix>train/a%2B/</Prefix></CommonPrefixes>"
                     "<CommonPrefixes><Prefix>train/../</Prefix></CommonPrefixes><CommonPrefixes><Prefix>train//"
                     "</Prefix></CommonPrefixes></ListBucketResult>"};
  });
  const auto store = OpenAt("s3://bucket/train", server.url());
  ASSERT_TRUE(store.ok()) << store.status();
  const auto folders = (*store)->Folders();
  ASSERT_TRUE(folders.ok()) << folders.status();
  EXPECT_THAT(*folders, testing::ElementsAre("a+", "b c"));
  EXPECT_EQ(targets[0], "/bucket/?delimiter=%2F&encoding-type=url&list-type=2&max-keys=1000&prefix=train%2F");
}

TEST(S3StoreTest, ListsPageByPage) {
  std::vector<std::string> targets;
  HttpServer server([&](const Request& request) {
    targets.push_back(request.target);
    if (targets.size() == 1)
      return Reply{.body =
                       "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>n/1=</"
                       "NextContinuationToken><Contents><Key>train/b</Key><ETag>\"2\"</ETag><Size>2</Size></Contents>"
                       "<Contents><Key>train/</Key><Size>0</Size></Contents></ListBucketResult>"};
    return Reply{.body =
                     "<ListBucketResult><Contents><Key>train/a/../../x</Key><Size>3</Size></Contents><Contents><Key>"
                     "train/a</Key><ETag>\"1\"</ETag><Size>1</Size></Contents></ListBucketResult>"};
  });
  const auto store = OpenAt("s3://bucket/train/", server.url());
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->description(), "s3://bucket/train");
  const auto objects = (*store)->List({});
  ASSERT_TRUE(objects.ok()) << objects.status();
  ASSERT_EQ(objects->size(), 2);
  EXPECT_EQ(objects->at(0).name, "a");
  EXPECT_EQ(objects->at(1).name, "b");
  EXPECT_EQ(objects->at(1).version, "\"2\"");
  EXPECT_EQ(targets[0], "/bucket/?encoding-type=url&list-type=2&max-keys=1000&prefix=train%2F");
  EXPECT_EQ(targets[1],
            "/bucket/?continuation-token=n%2F1%3D&encoding-type=url&list-type=2&max-keys=1000&prefix=train%2F");
}

TEST(S3StoreTest, SignsUnlessItIsAnonymous) {
  HttpServer server([&](const Request& request) {
    const bool is_signed =
        absl::StartsWith(request.Header("authorization"), "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/");
    EXPECT_EQ(is_signed, request.target == "/bucket/signed");
    return ServeObject(request, "0123456789");
  });
  EXPECT_TRUE((*OpenAt("s3://bucket", server.url()))->Describe({"signed"}).ok());
  EXPECT_TRUE((*OpenAt("s3://bucket", server.url(), true))->Describe({"plain"}).ok());
}

TEST(S3StoreTest, ErrorsNameTheObjectAndNoSecret) {
  HttpServer server([&](const Request& request) {
    if (absl::StrContains(request.target, "missing")) return Reply{.status = 404};
    return Reply{.status = 403,
                 .body = "<Error><Code>AccessDenied</Code><Message>AKIDEXAMPLE may not</Message></Error>"};
  });
  const auto store = *OpenAt("s3://bucket/train", server.url());
  const auto missing = store->Describe({"missing"});
  EXPECT_TRUE(absl::IsNotFound(missing.status()));
  EXPECT_THAT(missing.status().message(), HasSubstr("s3://bucket/train/missing: "));
  const ObjectInfo object = {"a", 10, "\"1\""};
  std::vector<uint8_t> into(10);
  const absl::Status denied = ReadNow(*store, {&object, 0, into});
  EXPECT_TRUE(absl::IsPermissionDenied(denied));
  EXPECT_THAT(denied.message(), HasSubstr("AccessDenied"));
  EXPECT_THAT(denied.message(), Not(HasSubstr("AKID")));
}

TEST(S3StoreTest, RefusesWhatNamesNoBucket) {
  for (const char* root : {"s3://", "s3:///x", "s3://a b/x", "s3://user@host/x"})
    EXPECT_TRUE(absl::IsInvalidArgument(OpenAt(root, "http://127.0.0.1:1").status())) << root;
  for (const char* endpoint : {"minio:9000", "ftp://x", "https://u:p@h", "https://h/path"})
    EXPECT_TRUE(absl::IsInvalidArgument(OpenAt("s3://bucket", endpoint).status())) << endpoint;
}

}  // namespace
}  // namespace stoker
