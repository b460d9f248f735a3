#include "tests/bench/slow_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/check.h"
#include "tests/bench/engine_ways.h"
#include "tests/support/http_server.h"

namespace stoker {
namespace {

// Returns the range of a file that is asked for, or all of it.
HttpServer::Reply ServeFile(const std::string& folder, const HttpServer::Request& request) {
  const std::string path = folder + request.target;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(file);
    return {.status = 404};
  }
  const uint64_t size = status.st_size;
  HttpServer::Reply reply = {.headers = {{"ETag", absl::StrCat("\"", size, "\"")}, {"Accept-Ranges", "bytes"}}};
  uint64_t first = 0, last = size - 1;
  const std::string header = request.Header("range");
  absl::string_view range = header;
  if (absl::ConsumePrefix(&range, "bytes=")) {
    const std::vector<std::string> ends = absl::StrSplit(range, '-');
    STOKER_CHECK(ends.size() == 2 && absl::SimpleAtoi(ends[0], &first) && first < size);
    if (!absl::SimpleAtoi(ends[1], &last)) last = size - 1;
    last = std::min(last, size - 1);
    reply.status = 206;
    reply.headers["Content-Range"] = absl::StrCat("bytes ", first, "-", last, "/", size);
  }
  reply.headers["Content-Length"] = absl::StrCat(last - first + 1);
  if (request.method != "HEAD") {
    reply.body.resize(last - first + 1);
    STOKER_CHECK(pread(file, reply.body.data(), reply.body.size(), static_cast<off_t>(first)) ==
                 static_cast<ssize_t>(reply.body.size()));
  }
  close(file);
  return reply;
}

}  // namespace

struct SlowServer::Counts {
  std::atomic<uint64_t> reads = 0, bytes = 0;
};

SlowServer::SlowServer(const std::string& folder, absl::Duration latency, int core)
    : counts_(new (mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Counts) {
  int ends[2];
  STOKER_CHECK(pipe2(ends, O_CLOEXEC) == 0);
  pid_ = fork();
  STOKER_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    PinTo(core);
    const HttpServer server([&](const HttpServer::Request& request) {
      HttpServer::Reply reply = ServeFile(folder, request);
      reply.delay = latency;
      if (request.method != "HEAD") ++counts_->reads, counts_->bytes += reply.body.size();
      return reply;
    });
    STOKER_CHECK(write(ends[1], server.url().data(), server.url().size()) > 0);
    for (;;) pause();
  }
  close(ends[1]);
  char url[64];
  const ssize_t bytes = read(ends[0], url, sizeof(url));
  STOKER_CHECK(bytes > 0);
  close(ends[0]);
  url_.assign(url, bytes);
}

SlowServer::~SlowServer() {
  kill(pid_, SIGKILL);  // It has nothing to put in order.
  waitpid(pid_, nullptr, 0);
  munmap(counts_, sizeof(Counts));
}

uint64_t SlowServer::reads() const { return counts_->reads; }
uint64_t SlowServer::bytes() const { return counts_->bytes; }

}  // namespace stoker
