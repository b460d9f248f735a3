#ifndef STOKER_SERVER_READ_CHILD_CHILD_PROCESS_H_
#define STOKER_SERVER_READ_CHILD_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/read/child/frame.h"

namespace stoker {

// Returns where builds and installations have a child's program: in lib/stoker, beside the folder of this program.
std::string ChildProgram(const std::string& name);

// What a child answered. It owns the bytes.
struct ChildAnswer {
  ChildVerdict verdict = ChildVerdict::kDone;
  std::unique_ptr<uint8_t[]> data;
  uint64_t size = 0;

  std::span<const uint8_t> bytes() const { return {data.get(), size}; }
};

// A process that reads what might harm the server: by a library that the server does not trust with its life, of bytes
// that are anybody's. The child has one socket to the server, no other descriptor and no environment but what it is
// given, and can do nothing but compute: see ServeRequests. Limits are set by the server, so they hold whatever becomes
// of the child. A child whose server dies ends when it has answered, or when its CPU time is over.
//
// Used by one thread at a time. Ending it takes no time, since it is killed.
class ChildProcess {
 public:
  struct Options {
    std::string program;                   // its path
    std::vector<std::string> environment;  // NAME=VALUE
    uint64_t address_space_bytes = 0;
    absl::Duration cpu_time = absl::Seconds(60);   // of one request, rounded up to seconds
    absl::Duration deadline = absl::Seconds(120);  // of one request
  };

  // Unavailable where the program cannot be started; NotFound where there is none.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const Options& options);
  ~ChildProcess();

  // Fills `into` from `offset` on of what a request is about.
  using Fetch = std::function<absl::Status(uint64_t offset, std::span<uint8_t> into)>;

  // Sends the bytes of all `parts` as one request and waits for its answer, of at most `most_bytes`. What the child
  // fetches meanwhile, `fetch` reads; without it the child must not. Any error ends the child, which must not be asked
  // again. Those of `fetch` are returned as they are; others are
  //   Aborted            it crashed, left, or answered what no answer can be; another try would likely end so too
  //   DeadlineExceeded   it took more time than it has
  //   Unavailable        somebody else killed it, or the machine failed
  absl::StatusOr<ChildAnswer> Ask(const std::vector<std::span<const uint8_t>>& parts, uint64_t most_bytes,
                                  const Fetch& fetch = nullptr);

  pid_t pid() const { return pid_; }

 private:
  ChildProcess(const Options& options, int socket, pid_t pid) : options_(options), socket_(socket), pid_(pid) {}

  // Sends `parts` one after another, by as few calls as it takes: each may wake the child.
  absl::Status Send(std::vector<std::span<const uint8_t>> parts, absl::Time deadline);
  absl::Status Receive(void* bytes, uint64_t size, absl::Time deadline);
  absl::Status Answer(const Fetch& fetch, absl::Time deadline);
  absl::Status Await(short events, absl::Time deadline);
  absl::Status Overdue() const;
  absl::Status LimitCpu();
  absl::Status Ended();
  int Kill();

  const Options options_;
  const int socket_;
  pid_t pid_;                           // 0 once it ended
  std::unique_ptr<uint8_t[]> fetched_;  // of kMostFetchBytes, once something was
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CHILD_CHILD_PROCESS_H_
