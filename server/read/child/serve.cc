#include "server/read/child/serve.h"

#include <malloc.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <memory>
#include <new>

namespace stoker {
namespace {

// Memory that is free is kept up to so many bytes, and none of larger pieces, of which this is the most that glibc
// takes.
constexpr int kMostKeptBytes = 64 << 20, kLargeBytes = 32 << 20;

// Receives all of `bytes`. Returns false where the server is gone.
bool Receive(void* bytes, uint64_t size) {
  auto* at = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t received = recv(kChildSocket, at, size, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    at += received;
    size -= static_cast<uint64_t>(received);
  }
  return true;
}

// Sends a header and what follows it, by one call if the socket has room: two might wake the server twice.
bool Send(const FrameHeader& header, const void* bytes) {
  const uint64_t all = sizeof header + header.bytes;
  for (uint64_t sent = 0; sent < all;) {
    const uint64_t of_header = std::min<uint64_t>(sent, sizeof header), of_bytes = sent - of_header;
    const auto piece = [](const void* begin, uint64_t skipped, uint64_t size) {
      return iovec{const_cast<char*>(static_cast<const char*>(begin) + skipped), size - skipped};
    };
    const iovec pieces[] = {piece(&header, of_header, sizeof header), piece(bytes, of_bytes, header.bytes)};
    const ssize_t wrote = writev(kChildSocket, pieces, 2);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    sent += static_cast<uint64_t>(wrote);
  }
  return true;
}

ChildReply ReplyTo(const std::function<ChildReply(std::span<const uint8_t>)>& handle,
                   std::span<const uint8_t> request) {
  try {
    return handle(request);
  } catch (const std::bad_alloc&) {
    return {ChildVerdict::kNoMemory, ""};
  } catch (const std::exception& error) {
    return {ChildVerdict::kRefused, error.what()};
  }
}

}  // namespace

void FetchBytes(uint64_t offset, void* into, uint64_t size) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    const FetchRange range = {offset, std::min(size, kMostFetchBytes)};
    FrameHeader header = {kFetchKind, sizeof range};
    if (!Send(header, &range) || !Receive(&header, sizeof header) || header.bytes != range.size ||
        !Receive(at, range.size))
      _exit(0);
    at += range.size;
    offset += range.size;
    size -= range.size;
  }
}

int ServeRequests(const std::function<ChildReply(std::span<const uint8_t> request)>& handle) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  // Requests need much the same memory again and again. Given back, it would be cleared by the kernel each time.
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_TRIM_THRESHOLD, kMostKeptBytes);
  if (!EnterSandbox()) return 1;
  for (FrameHeader header; Receive(&header, sizeof header);) {
    const auto request = std::make_unique_for_overwrite<uint8_t[]>(header.bytes);
    if (!Receive(request.get(), header.bytes)) return 0;
    const ChildReply reply = ReplyTo(handle, {request.get(), header.bytes});
    header = {static_cast<uint64_t>(reply.verdict), reply.bytes.size()};
    if (!Send(header, reply.bytes.data())) return 0;
  }
  return 0;
}

}  // namespace stoker
