#ifndef STOKER_SERVER_READ_CHILD_FRAME_H_
#define STOKER_SERVER_READ_CHILD_FRAME_H_

#include <cstdint>

namespace stoker {

// What goes over the socket between a server and its child: a request, then its answer, then the next request. Each is
// a header and as many bytes as it says. Both sides run on one machine, so numbers are as they are in memory.
//
//   kind    u64: 0 of a request, a ChildVerdict of an answer
//   bytes   u64, of what follows
//
// Before it answers, a child may fetch: it sends a header of kFetchKind and a FetchRange, and the server sends a header
// of kind 0 and the bytes of that range.
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

// A range of what the request is about, such as a file.
struct FetchRange {
  uint64_t offset = 0;
  uint64_t size = 0;  // at most kMostFetchBytes
};
static_assert(sizeof(FetchRange) == 16);

inline constexpr uint64_t kFetchKind = 4;  // no ChildVerdict has it
inline constexpr uint64_t kMostFetchBytes = uint64_t{8} << 20;

// The descriptor of a child's socket.
inline constexpr int kChildSocket = 0;

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CHILD_FRAME_H_
