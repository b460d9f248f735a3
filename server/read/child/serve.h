#ifndef STOKER_SERVER_READ_CHILD_SERVE_H_
#define STOKER_SERVER_READ_CHILD_SERVE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "server/read/child/frame.h"

namespace stoker {

// The child's side. It is compiled into programs that link nothing else of ours and are built without sanitizers, whose
// address space would not fit a child's limit.

struct ChildReply {
  ChildVerdict verdict = ChildVerdict::kDone;
  std::string bytes;  // the answer; with kRefused a text for people
};

// Answers requests by `handle` until the server is gone, and returns the program's exit status. What `handle` throws
// becomes an answer: std::bad_alloc kNoMemory, any other std::exception kRefused.
//
// Before the first request the process gives up what it does not need: it cannot open files or sockets, start programs
// or signal others from then on (seccomp), and core dumps are off. Libraries must be loaded before. SIGTERM, SIGINT and
// SIGHUP are ignored, since the server that got them as well may still need its children.
int ServeRequests(const std::function<ChildReply(std::span<const uint8_t> request)>& handle);

// Fills `into` with `size` bytes from `offset` on of what the request is about, of which the server has to know. Only a
// `handle` calls it. Where the server is gone, or fails to read, the process ends.
void FetchBytes(uint64_t offset, void* into, uint64_t size);

// Gives up all system calls but those that computing and the socket need. The others fail with EPERM. Returns false
// where the kernel has no seccomp.
bool EnterSandbox();

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CHILD_SERVE_H_
