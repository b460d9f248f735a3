// A name server that does not answer keeps no job from its servers.

#include <dlfcn.h>
#include <netdb.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"

namespace {

constexpr char kName[] = "stokers.test";

// What becomes of looking up kName, in the whole process.
class NameServer {
 public:
  static NameServer& Get() {
    static auto* const server = new NameServer;  // Threads may outlive main().
    return *server;
  }

  void Hang(bool hanging) {
    absl::MutexLock lock(&mutex_);
    hanging_ = hanging;
  }
  void Pass() {
    absl::MutexLock lock(&mutex_);
    ++waiting_;
    mutex_.Await(absl::Condition(
        +[](NameServer* self) { return !self->hanging_; }, this));
    --waiting_;
  }
  void AwaitSomebody() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](NameServer* self) { return self->waiting_ > 0; }, this));
  }

 private:
  absl::Mutex mutex_;
  bool hanging_ = false;
  int waiting_ = 0;
};

// Lets the name server answer again, however a test ends.
struct Hanging {
  Hanging() { NameServer::Get().Hang(true); }
  ~Hanging() { NameServer::Get().Hang(false); }
};

}  // namespace

// Goes before the C library's.
extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** found) {
  static const auto real = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  if (node == nullptr || std::strcmp(node, kName) != 0) return real(node, service, hints, found);
  NameServer::Get().Pass();
  return real("127.0.0.1", service, hints, found);
}

namespace stoker {
namespace {

TEST(HangingNamesTest, AJobFindsItsServersAgainAndEndsWhileANameHangs) {
  Cluster cluster(2, SyntheticConfig(400));
  const std::string port = cluster.addresses()[0].substr(cluster.addresses()[0].rfind(':'));
  LoaderOptions job;
  job.servers = {absl::StrCat("dns:///", kName, port), cluster.addresses()[1]};
  job.pipeline = v1::Pipeline();
  job.batch_size = 10;
  job.last_batch = LastBatch::kPartial;
  job.prefetch = 1;
  job.progress_timeout = absl::Seconds(20);
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  ASSERT_TRUE((*loader)->Next().ok());
  const Hanging hanging;
  NameServer::Get().AwaitSomebody();
  for (int server : {0, 1}) {
    cluster.Stop(server);
    cluster.Restart(server);
  }
  const EpochResult rest = RunEpoch(**loader);
  EXPECT_TRUE(rest.status.ok()) << rest.status;
  EXPECT_EQ(rest.positions.size(), 390);
  EXPECT_EQ((*loader)->stats().servers.size(), 2) << "what the name stood for is kept";
  loader->reset();
}

}  // namespace
}  // namespace stoker
