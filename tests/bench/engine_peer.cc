#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "tests/bench/engine_ways.h"

extern char** environ;

namespace stoker {
namespace {

constexpr int kPatienceMs = 180'000;  // For one answer; importing TensorFlow on one core is slow.

// A script of tests/bench/peers and the lines that are spoken with it; see peers/peer.py. Ends with its owner.
class Peer {
 public:
  Peer(const std::string& python, const std::string& script, const std::string& mode) {
    const std::string path = absl::StrCat(STOKER_PEERS_DIR, "/", script);
    std::string arguments[] = {python, path, mode};
    char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
    int requests[2], answers[2];
    STOKER_CHECK(pipe2(requests, O_CLOEXEC) == 0 && pipe2(answers, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, requests[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, answers[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid_, python.c_str(), &files, nullptr, argv, environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&files);
    close(requests[0]);
    close(answers[1]);
    requests_ = requests[1];
    answers_ = answers[0];
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    close(requests_);
    close(answers_);
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);  // It has nothing to put in order.
    waitpid(pid_, nullptr, 0);
  }

  // The answer to a line, without its end.
  absl::StatusOr<std::string> Ask(absl::string_view lines) {
    while (!lines.empty()) {
      const ssize_t written = write(requests_, lines.data(), lines.size());
      if (written <= 0) return absl::UnavailableError("it ended before its time");
      lines.remove_prefix(written);
    }
    return Answer();
  }

 private:
  absl::StatusOr<std::string> Answer() {
    std::string line;
    char character;
    for (;;) {
      pollfd ready = {.fd = answers_, .events = POLLIN};
      const int count = poll(&ready, 1, kPatienceMs);
      if (count < 0 && errno == EINTR) continue;
      if (count == 0) return absl::DeadlineExceededError("it did not answer within three minutes");
      if (read(answers_, &character, 1) != 1) return absl::UnavailableError("it ended before its time");
      if (character == '\n') return line;
      line += character;
    }
  }

  pid_t pid_ = -1;
  int requests_ = -1, answers_ = -1;
};

Way StartPeer(std::string name, const std::string& python, const std::string& script, const std::string& mode,
              const Photos& photos) {
  auto peer = std::make_shared<Peer>(python, script, mode);
  std::string files;
  for (const std::string& path : photos.paths) absl::StrAppend(&files, path, "\n");
  const absl::StatusOr<std::string> answer = peer->Ask(files + "\n");
  Way way = {.name = std::move(name)};
  absl::string_view text = answer.ok() ? absl::string_view(*answer) : answer.status().message();
  if (!absl::ConsumePrefix(&text, "ready ")) {
    absl::ConsumePrefix(&text, "skipped ");
    way.skipped = std::string(text);
    return way;
  }
  way.version = std::string(text);
  way.time = [peer](const Turn& turn) -> absl::StatusOr<double> {
    STOKER_ASSIGN_OR_RETURN(const std::string answer,
                            peer->Ask(absl::StrCat(turn.seconds, turn.cpu_time ? " cpu\n" : " wall\n")));
    double rate = 0;
    if (!absl::SimpleAtod(answer, &rate) || rate <= 0) return absl::InternalError(answer);
    return rate;
  };
  return way;
}

}  // namespace

std::vector<Way> DebianPeers(const Photos& photos, const std::string& only) {
  const std::string name = "torchvision on PIL, Debian's";
  if (!absl::StrContains(name, only)) return {};
  return {StartPeer(name, "/usr/bin/python3", "torchvision_peer.py", "pil", photos)};
}

std::vector<Way> EnvironmentPeers(const Photos& photos, const std::string& only) {
  constexpr struct {
    const char *name, *script, *mode;
  } kPeers[] = {
      {"torchvision on PIL", "torchvision_peer.py", "pil"},
      {"torchvision.io", "torchvision_peer.py", "io"},
      {"OpenCV's cv2 linear", "cv2_peer.py", "linear"},
      {"OpenCV's cv2 area", "cv2_peer.py", "area"},
      {"Albumentations linear", "albumentations_peer.py", "linear"},
      {"Albumentations area", "albumentations_peer.py", "area"},
      {"DALI aliased", "dali_peer.py", "aliased"},
      {"DALI antialiased", "dali_peer.py", "antialiased"},
      {"tf.data aliased", "tfdata_peer.py", "aliased"},
      {"tf.data antialiased", "tfdata_peer.py", "antialiased"},
  };
  const std::string python = STOKER_PEERS_PYTHON;
  std::vector<Way> ways;
  for (const auto& [name, script, mode] : kPeers) {
    if (!absl::StrContains(name, only)) continue;
    if (std::filesystem::exists(python)) {
      ways.push_back(StartPeer(name, python, script, mode, photos));
    } else {
      ways.push_back({.name = name, .skipped = "no environment: ./dev bench engine --peers makes it"});
    }
  }
  return ways;
}

}  // namespace stoker
