#ifndef STOKER_SERVER_READ_CHILD_FRAME_H_
#define STOKER_SERVER_READ_CHILD_FRAME_H_

#include <cstdint>

namespace stoker {

// What goes over the socket between a server and its child: a request, then its answer, then the next request. Each is
// a header and as many bytes as it says. Both sides run on one machine, so numbers are as they are in memory.
//
//   kind    u64: 0 of a request, a ChildVerdict of an answer
//   bytes   u64, of what follows
struct FrameHeader {
  uint64_t kind = 0;
  uint64_t bytes = 0;
};
static_assert(sizeof(FrameHeader) == 16);

enum class ChildVerdict : uint64_t {
  kDone = 1,
  kRefused = 2,   // what it was asked to read is at fault; the bytes are text that says how
  kNoMemory = 3,  // what it was asked to read takes more memory than the child has
};

// The descriptor of a child's socket.
inline constexpr int kChildSocket = 0;

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CHILD_FRAME_H_
