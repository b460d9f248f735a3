#include "server/read/stores/http/http_store.h"

#include <random>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/certificate.h"
#include "tests/support/http_server.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Request = HttpServer::Request;
using Reply = HttpServer::Reply;

std::string RandomBytes(size_t size) {
  std::string bytes(size, 0);
  std::minstd_rand random(static_cast<unsigned>(size));
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

HttpLimits Quick() { return {.first_pause = absl::Milliseconds(1), .longest_pause = absl::Milliseconds(5)}; }

std::unique_ptr<HttpStore> StoreAt(const std::string& url, const HttpLimits& limits = Quick(),
                                   const v1::HttpStore& config = {}) {
  auto store = HttpStore::Open(url, config, limits);
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

// Reads bytes [`offset`, `offset` + `size`) of what `object` says.
absl::StatusOr<std::string> ReadBytes(Store& store, const ObjectInfo& object, uint64_t offset, uint64_t size) {
  std::vector<uint8_t> into(size);
  const absl::Status read = ReadNow(store, {&object, offset, into});
  if (!read.ok()) return read;
  return std::string(into.begin(), into.end());
}

TEST(HttpStoreTest, DescribesAndReads) {
  const std::string bytes = RandomBytes(1000);
  HttpServer server([&](const Request& request) {
    if (request.target != "/sets/a%20b%2B%25.tar") return Reply{.status = 404};
    return ServeObject(request, bytes);
  });
  const auto store = StoreAt(server.url() + "/sets");
  const auto objects = store->Describe({"a b+%.tar"});
  ASSERT_TRUE(objects.ok()) << objects.status();
  EXPECT_EQ(objects->at(0).name, "a b+%.tar");
  EXPECT_EQ(objects->at(0).size, 1000);
  EXPECT_EQ(objects->at(0).version, "\"1\"");
  EXPECT_EQ(*ReadBytes(*store, objects->at(0), 100, 50), bytes.substr(100, 50));
  EXPECT_EQ(*ReadBytes(*store, objects->at(0), 0, 1000), bytes);
  EXPECT_EQ(*ReadBytes(*store, objects->at(0), 1000, 0), "");
  EXPECT_THAT(store->Describe({"a b+%.tar", "none.tar"}).status().message(),
              AllOf(HasSubstr("/sets/none.tar: is not there"), HasSubstr("give braces")));
}

TEST(HttpStoreTest, SaysThatItCannotList) {
  const auto listed = StoreAt("http://127.0.0.1:1/x/")->List({});
  EXPECT_TRUE(absl::IsUnimplemented(listed.status()));
  EXPECT_THAT(listed.status().message(), HasSubstr("{0000..0146}"));
}

TEST(HttpStoreTest, RefusesSecretsInUrls) {
  for (const char* url : {"https://user:hidden@host/x", "https://host/x?token=hidden"}) {
    const auto store = HttpStore::Open(url, {});
    EXPECT_TRUE(absl::IsInvalidArgument(store.status()));
    EXPECT_THAT(store.status().message(), Not(HasSubstr("hidden")));
  }
}

TEST(HttpStoreTest, SplitsLongRangesAndKeepsToItsBound) {
  const std::string bytes = RandomBytes(33 << 20);
  HttpServer server([&](const Request& request) { return ServeObject(request, bytes); });
  HttpLimits limits = Quick();
  limits.requests = 3;
  const auto store = StoreAt(server.url(), limits);
  const ObjectInfo object = {"big", bytes.size(), "\"1\""};
  EXPECT_EQ(*ReadBytes(*store, object, 1, bytes.size() - 2), bytes.substr(1, bytes.size() - 2));
  EXPECT_EQ(server.counts().requests, 5);
  absl::BlockingCounter left(100);
  std::vector<std::vector<uint8_t>> into(100, std::vector<uint8_t>(64));
  for (int i = 0; i < 100; ++i)
    store->Read({&object, static_cast<uint64_t>(i) * 1000, into[i]}, [&](const absl::Status& status) {
      EXPECT_TRUE(status.ok()) << status;
      left.DecrementCount();
    });
  left.Wait();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(std::string(into[i].begin(), into[i].end()), bytes.substr(i * 1000, 64));
  EXPECT_LE(server.counts().connections, 3);
}

TEST(HttpStoreTest, ResumesWhereARangeBroke) {
  const std::string bytes = RandomBytes(100000);
  std::vector<std::string> ranges;
  HttpServer server([&](const Request& request) {
    ranges.push_back(request.Header("range"));
    Reply reply = ServeObject(request, bytes);
    if (request.number <= 2) reply.break_after = 30000;
    return reply;
  });
  const auto store = StoreAt(server.url());
  EXPECT_EQ(*ReadBytes(*store, {"a", bytes.size(), "\"1\""}, 0, bytes.size()), bytes);
  EXPECT_EQ(ranges, (std::vector<std::string>{"bytes=0-99999", "bytes=30000-99999", "bytes=60000-99999"}));
}

TEST(HttpStoreTest, AFirstByteThatIsLateIsAskedForTwice) {
  const std::string bytes = RandomBytes(1000);
  absl::Mutex mutex;
  std::map<std::string, int> asked;
  absl::Notification twice;
  HttpServer server([&](const Request& request) {
    bool is_late = false;
    {
      absl::MutexLock lock(&mutex);
      const int times = ++asked[request.Header("range")];
      if (request.Header("range") == "bytes=500-599") {
        is_late = times == 1;
        if (times == 2) twice.Notify();
      }
    }
    if (is_late) twice.WaitForNotification();
    Reply reply = ServeObject(request, bytes);
    if (is_late)
      reply = {.status = 206, .headers = reply.headers, .body = std::string(100, 'x'), .delay = absl::Hours(1)};
    return reply;
  });
  HttpLimits limits = Quick();
  limits.requests = 8;
  limits.silence = absl::Hours(1);
  const auto store = StoreAt(server.url(), limits);
  const ObjectInfo object = {"a", bytes.size(), "\"1\""};
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(ReadBytes(*store, object, i, 1).ok());
  EXPECT_EQ(*ReadBytes(*store, object, 500, 100), bytes.substr(500, 100));
  absl::MutexLock lock(&mutex);
  EXPECT_EQ(asked["bytes=500-599"], 2);
}

TEST(HttpStoreTest, ChangedObjectsAreErrorsThatNameThem) {
  const std::string bytes = RandomBytes(100);
  HttpServer server([&](const Request& request) {
    Reply reply = ServeObject(request, bytes, "\"2\"");
    if (request.target == "/rude") {  // It knows no If-Match.
      Request plain = request;
      plain.headers.erase("if-match");
      reply = ServeObject(plain, bytes, "\"2\"");
    }
    return reply;
  });
  const auto store = StoreAt(server.url());
  for (const char* name : {"polite", "rude"}) {
    const auto read = ReadBytes(*store, {name, 100, "\"1\""}, 10, 10);
    EXPECT_TRUE(absl::IsFailedPrecondition(read.status())) << read.status();
    EXPECT_THAT(read.status().message(), HasSubstr(absl::StrCat("/", name, ": changed since it was indexed")));
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(ReadBytes(*store, {"rude", 99, "\"2\""}, 10, 10).status()));
  EXPECT_TRUE(ReadBytes(*store, {"rude", 100, "\"2\""}, 10, 10).ok());
}

TEST(HttpStoreTest, ServersThatIgnoreRangesAreRefusedAtOnce) {
  const std::string bytes = RandomBytes(10 << 20);
  HttpServer server([&](const Request&) { return Reply{.headers = {{"ETag", "\"1\""}}, .body = bytes}; });
  const auto read = ReadBytes(*StoreAt(server.url()), {"a", bytes.size(), "\"1\""}, 10, 10);
  EXPECT_THAT(read.status().message(), HasSubstr("/a: the server ignores the range"));
  EXPECT_EQ(server.counts().requests, 1);
}

TEST(HttpStoreTest, BytesThatAreAnnouncedAndDoNotComeAreNotWaitedFor) {
  const std::string bytes = RandomBytes(1000);
  HttpServer server([&](const Request& request) {
    Reply reply = ServeObject(request, bytes);
    if (request.number <= 2) reply.headers["Content-Length"] = absl::StrCat(reply.body.size() + 7);
    return reply;  // The connection stays open.
  });
  HttpLimits limits = Quick();
  limits.silence = absl::Hours(1);
  EXPECT_EQ(*ReadBytes(*StoreAt(server.url(), limits), {"a", bytes.size(), "\"1\""}, 10, 10), bytes.substr(10, 10));
  EXPECT_EQ(server.counts().requests, 3);
}

TEST(HttpStoreTest, GivesUpAfterItsTriesWithTheLastCause) {
  HttpServer server([&](const Request&) { return Reply{.status = 500}; });
  HttpLimits limits = Quick();
  limits.tries = 4;
  const auto read = ReadBytes(*StoreAt(server.url(), limits), {"a", 100, ""}, 0, 10);
  EXPECT_TRUE(absl::IsUnavailable(read.status()));
  EXPECT_THAT(read.status().message(), AllOf(HasSubstr("/a: the server answered 500"), HasSubstr("after 4 tries")));
  EXPECT_EQ(server.counts().requests, 4);
}

TEST(HttpStoreTest, GivesUpOnASilentServer) {
  HttpServer server([&](const Request&) { return Reply{.delay = absl::InfiniteDuration()}; });
  HttpLimits limits = Quick();
  limits.tries = 2;
  limits.silence = absl::Milliseconds(20);
  const auto read = ReadBytes(*StoreAt(server.url(), limits), {"a", 100, ""}, 0, 10);
  EXPECT_TRUE(absl::IsUnavailable(read.status())) << read.status();
  EXPECT_THAT(read.status().message(), HasSubstr("2 tries"));
}

TEST(HttpStoreTest, TheDestructorEndsReads) {
  absl::Notification asked;
  HttpServer server([&](const Request& request) {
    if (request.number == 1) asked.Notify();
    return Reply{.delay = absl::InfiniteDuration()};
  });
  auto store = StoreAt(server.url());
  const ObjectInfo object = {"a", 100, ""};
  std::vector<std::vector<uint8_t>> into(200, std::vector<uint8_t>(10));
  std::atomic<int> done = 0;
  for (auto& bytes : into)
    store->Read({&object, 0, bytes}, [&](const absl::Status& status) {
      EXPECT_TRUE(absl::IsUnavailable(status));
      ++done;
    });
  asked.WaitForNotification();
  store.reset();
  EXPECT_EQ(done, 200);
}

TEST(HttpStoreTest, SecretHeadersStayWithTheirHost) {
  TemporaryFolder folder;
  folder.Write("headers", "Authorization: Bearer hidden\nPrivate-Token: hidden\n");
  const std::string bytes = RandomBytes(100);
  std::atomic<int> leaked = 0, answered = 0;
  HttpServer other([&](const Request& request) {
    leaked += !request.Header("authorization").empty() || !request.Header("private-token").empty();
    ++answered;
    return ServeObject(request, bytes);
  });
  HttpServer server([&](const Request& request) {
    EXPECT_EQ(request.Header("private-token"), "hidden");
    return Reply{.status = 302, .headers = {{"Location", other.url() + "/elsewhere"}}};
  });
  v1::HttpStore config;
  config.set_headers_file(folder.path("headers"));
  const auto store = StoreAt(server.url(), Quick(), config);
  EXPECT_EQ(*ReadBytes(*store, {"a", 100, "\"1\""}, 10, 20), bytes.substr(10, 20));
  EXPECT_EQ(answered, 1);
  EXPECT_EQ(leaked, 0);
}

TEST(HttpStoreTest, RedirectsInCirclesEnd) {
  HttpServer server([&](const Request&) { return Reply{.status = 307, .headers = {{"Location", "/again"}}}; });
  const auto read = ReadBytes(*StoreAt(server.url()), {"a", 100, ""}, 0, 10);
  EXPECT_THAT(read.status().message(), HasSubstr("redirects again and again"));
  HttpServer file([&](const Request&) {
    return Reply{.status = 302, .headers = {{"Location", "file:///etc/passwd"}}};
  });
  EXPECT_THAT(ReadBytes(*StoreAt(file.url()), {"a", 100, ""}, 0, 10).status().message(), HasSubstr("not followed"));
}

TEST(HttpStoreTest, TrustsTheAuthorityThatIsNamedAndNoOther) {
  TemporaryFolder folder;
  MakeCertificate(folder.path("right"));
  MakeCertificate(folder.path("wrong"));
  const std::string bytes = RandomBytes(100);
  HttpServer server([&](const Request& request) { return ServeObject(request, bytes); }, folder.path("right"));
  v1::HttpStore config;
  config.set_ca_file(folder.path("right.crt"));
  EXPECT_EQ(*ReadBytes(*StoreAt(server.url(), Quick(), config), {"a", 100, "\"1\""}, 1, 9), bytes.substr(1, 9));
  for (const char* authority : {"wrong.crt", ""}) {
    config.set_ca_file(*authority == 0 ? "" : folder.path(authority));
    const auto read = ReadBytes(*StoreAt(server.url(), Quick(), config), {"a", 100, "\"1\""}, 1, 9);
    EXPECT_TRUE(absl::IsUnavailable(read.status()));
    EXPECT_THAT(read.status().message(),
                AllOf(HasSubstr("certificate"), HasSubstr("ca_file"), HasSubstr(server.url())));
  }
  HttpServer plain(
      [&](const Request&) {
        return Reply{.status = 302, .headers = {{"Location", "http://127.0.0.1/"}}};
      },
      folder.path("right"));
  config.set_ca_file(folder.path("right.crt"));
  EXPECT_THAT(ReadBytes(*StoreAt(plain.url(), Quick(), config), {"a", 100, ""}, 1, 9).status().message(),
              HasSubstr("from https to http"));
}

// Every tenth request meets a fault of one kind.
enum class Fault {
  kReset,
  kTruncate,
  kThrottle,
  k500,
  kChange,
  kVanish,
  kDelay,
  kLongLength,
  kShortLength,
  kWrongRange
};

class FaultTest : public testing::TestWithParam<Fault> {};

Reply Spoil(Reply reply, Fault fault) {
  switch (fault) {
    case Fault::kReset: reply.reset = true; break;
    case Fault::kTruncate: reply.break_after = reply.body.size() / 2; break;
    case Fault::kThrottle: return {.status = 503, .body = "<Error><Code>SlowDown</Code></Error>"};
    case Fault::k500: return {.status = 500};
    case Fault::kChange: reply.headers["ETag"] = "\"2\""; break;
    case Fault::kVanish: return {.status = 404};
    case Fault::kDelay: reply.delay = absl::Milliseconds(300); break;
    case Fault::kLongLength:
      reply.headers["Content-Length"] = absl::StrCat(reply.body.size() + 5);
      reply.break_after = reply.body.size() - 1;
      break;
    case Fault::kShortLength: reply.headers["Content-Length"] = absl::StrCat(reply.body.size() - 5); break;
    case Fault::kWrongRange: reply.headers["Content-Range"] = "bytes 0-9/200000"; break;
  }
  return reply;
}

TEST_P(FaultTest, BytesAreRightOrTheErrorNamesObjectAndCause) {
  const std::string bytes = RandomBytes(200000);
  HttpServer server([&](const Request& request) {
    const Reply reply = ServeObject(request, bytes);
    return request.number % 10 == 0 ? Spoil(reply, GetParam()) : reply;
  });
  HttpLimits limits = Quick();
  limits.requests = 8;
  // Elsewhere a request that a slow machine holds up must not be asked for again: the number of requests counts.
  limits.silence = GetParam() == Fault::kDelay ? absl::Milliseconds(100) : absl::Seconds(60);
  const auto store = StoreAt(server.url(), limits);
  const ObjectInfo object = {"shard", bytes.size(), "\"1\""};
  constexpr int kReads = 500;
  std::vector<std::vector<uint8_t>> into(kReads, std::vector<uint8_t>(700));
  std::vector<absl::Status> statuses(kReads);
  absl::BlockingCounter left(kReads);
  for (int i = 0; i < kReads; ++i)
    store->Read({&object, static_cast<uint64_t>(i) * 300, into[i]}, [&, i](const absl::Status& status) {
      statuses[i] = status;
      left.DecrementCount();
    });
  left.Wait();
  int failed = 0;
  for (int i = 0; i < kReads; ++i) {
    if (statuses[i].ok()) {
      EXPECT_EQ(std::string(into[i].begin(), into[i].end()), bytes.substr(i * 300, 700));
    } else {
      ++failed;
      EXPECT_THAT(statuses[i].message(), HasSubstr("/shard: "));
    }
  }
  const bool lasts = GetParam() == Fault::kChange || GetParam() == Fault::kVanish;
  EXPECT_EQ(failed, lasts ? kReads / 10 : 0);
  // The server learns late that a connection was closed, and of those that it holds back only after the delay.
  if (GetParam() != Fault::kDelay) {
    EXPECT_LE(server.counts().most_open, 8 + 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FaultTest,
                         testing::Values(Fault::kReset, Fault::kTruncate, Fault::kThrottle, Fault::k500, Fault::kChange,
                                         Fault::kVanish, Fault::kDelay, Fault::kLongLength, Fault::kShortLength,
                                         Fault::kWrongRange));

}  // namespace
}  // namespace stoker
