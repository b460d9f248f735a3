#include "server/read/child/serve.h"

#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <memory>
#include <new>

namespace stoker {
namespace {

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

bool Send(const void* bytes, uint64_t size) {
  const auto* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t sent = send(kChildSocket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    at += sent;
    size -= static_cast<uint64_t>(sent);
  }
  return true;
}

ChildReply Handle(const std::function<ChildReply(std::span<const uint8_t>)>& handle, std::span<const uint8_t> request) {
  try {
    return handle(request);
  } catch (const std::bad_alloc&) {
    return {ChildVerdict::kNoMemory, ""};
  } catch (const std::exception& error) {
    return {ChildVerdict::kRefused, error.what()};
  }
}

}  // namespace

int ServeRequests(const std::function<ChildReply(std::span<const uint8_t> request)>& handle) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, SIG_IGN);
  if (!EnterSandbox()) return 1;
  for (FrameHeader header; Receive(&header, sizeof header);) {
    const auto request = std::make_unique_for_overwrite<uint8_t[]>(header.bytes);
    if (!Receive(request.get(), header.bytes)) return 0;
    const ChildReply reply = Handle(handle, {request.get(), header.bytes});
    header = {static_cast<uint64_t>(reply.verdict), reply.bytes.size()};
    if (!Send(&header, sizeof header) || !Send(reply.bytes.data(), reply.bytes.size())) return 0;
  }
  return 0;
}

}  // namespace stoker
