// A child that does what it is told, well or badly: the request's first byte says what.

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "server/read/child/serve.h"

extern char** environ;

namespace stoker {
namespace {

std::vector<int> open_files;  // as they were when the program began

// Says what of the world the process sees.
std::string World() {
  std::string text = "files";
  for (const int file : open_files) text += " " + std::to_string(file);
  text += " environment";
  for (char** variable = environ; *variable != nullptr; ++variable) text += std::string(" ") + *variable;
  return text;
}

// Tries what is forbidden, and says what succeeded.
std::string Escapes() {
  std::string succeeded;
  if (open("/etc/passwd", O_RDONLY) >= 0) succeeded += " open";
  if (socket(AF_INET, SOCK_STREAM, 0) >= 0) succeeded += " socket";
  if (kill(getppid(), 0) == 0) succeeded += " kill";
  if (fork() >= 0) succeeded += " fork";
  return succeeded.empty() ? "none" : succeeded;
}

// Writes a header of our own choice.
void Lie(uint64_t kind, uint64_t bytes) {
  const FrameHeader header = {kind, bytes};
  if (send(kChildSocket, &header, sizeof header, MSG_NOSIGNAL) < 0) std::abort();
}

ChildReply Obey(std::span<const uint8_t> request) {
  volatile uint64_t sink = 0;
  switch (request.empty() ? '?' : static_cast<char>(request[0])) {
    case 'e': return {ChildVerdict::kDone, std::string(request.begin(), request.end())};
    case 'p': return {ChildVerdict::kDone, std::to_string(getpid())};
    case 'w': return {ChildVerdict::kDone, World()};
    case 'x': return {ChildVerdict::kDone, Escapes()};
    case 'r': throw std::runtime_error("the input is wrong\n");
    case 'c':
      std::signal(SIGSEGV, SIG_DFL);
      raise(SIGSEGV);
      break;
    case 'a': std::abort();
    case 'q': _exit(7);
    case 'k': raise(SIGKILL); break;
    case 'h':
      for (;;) pause();
    case 's':
      for (;;) sink = sink + 1;
    case 'm': {
      std::string much;
      for (;;) much.append(1 << 20, 'm');
    }
    case 'l':
      Lie(1, uint64_t{1} << 62);
      for (;;) pause();
    case 'n':
      Lie(9, 1);
      for (;;) pause();
    case 't': Lie(1, 1000); _exit(0);
    case 'f': {
      std::string fetched(20 << 20, '\0');
      FetchBytes(7, fetched.data(), fetched.size());
      return {ChildVerdict::kDone, fetched};
    }
    case 'g': {
      Lie(kFetchKind, sizeof(FetchRange));
      Lie(0, uint64_t{1} << 62);
      for (;;) pause();
    }
    case 'b': return {ChildVerdict::kDone, std::string(1 << 20, 'b')};
    default: break;
  }
  return {ChildVerdict::kRefused, "what?"};
}

}  // namespace
}  // namespace stoker

int main() {
  for (int file = 0; file < 1024; ++file)
    if (fcntl(file, F_GETFD) >= 0) stoker::open_files.push_back(file);
  return stoker::ServeRequests(stoker::Obey);
}
