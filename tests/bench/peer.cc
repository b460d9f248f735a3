#include "tests/bench/peer.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/check.h"
#include "common/status_macros.h"

extern char** environ;

namespace stoker {
namespace {

constexpr int kPatienceMs = 180'000;  // For one answer; importing TensorFlow on one core is slow.

}  // namespace

absl::StatusOr<std::shared_ptr<Peer>> Peer::Start(const std::string& python, const std::string& script,
                                                  const std::vector<std::string>& arguments,
                                                  const std::vector<std::string>& paths) {
  if (!std::filesystem::exists(python))
    return absl::UnavailableError("no environment: ./dev bench NAME --peers makes it");
  std::vector<std::string> words = {python, absl::StrCat(STOKER_PEERS_DIR, "/", script)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int requests[2], answers[2];
  STOKER_CHECK(pipe2(requests, O_CLOEXEC) == 0 && pipe2(answers, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, requests[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, answers[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::shared_ptr<Peer> peer(new Peer);
  if (posix_spawn(&peer->pid_, argv[0], &files, nullptr, argv.data(), environ) != 0) peer->pid_ = -1;
  posix_spawn_file_actions_destroy(&files);
  close(requests[0]);
  close(answers[1]);
  peer->requests_ = requests[1];
  peer->answers_ = answers[0];

  std::string lines;
  for (const std::string& path : paths) absl::StrAppend(&lines, path, "\n");
  STOKER_ASSIGN_OR_RETURN(const std::string answer, peer->Ask(lines + "\n"));
  absl::string_view text = answer;
  if (!absl::ConsumePrefix(&text, "ready ")) {
    absl::ConsumePrefix(&text, "skipped ");
    return absl::UnavailableError(text);
  }
  peer->version_ = std::string(text);
  return peer;
}

Peer::~Peer() {
  close(requests_);
  close(answers_);
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);  // It has nothing to put in order.
  waitpid(pid_, nullptr, 0);
}

absl::StatusOr<PeerRun> Peer::Run(double seconds) {
  STOKER_ASSIGN_OR_RETURN(const std::string answer, Ask(absl::StrCat(seconds, "\n")));
  PeerRun run;
  double* const figures[] = {&run.images, &run.wall_seconds, &run.cpu_seconds, &run.children_cpu_seconds};
  const std::vector<std::string> words = absl::StrSplit(answer, ' ');
  bool understood = words.size() == std::size(figures);
  for (size_t i = 0; understood && i < words.size(); ++i) understood = absl::SimpleAtod(words[i], figures[i]);
  if (!understood || run.images <= 0) return absl::InternalError(answer);
  return run;
}

// The answer to a line, without its end.
absl::StatusOr<std::string> Peer::Ask(absl::string_view lines) {
  while (!lines.empty()) {
    const ssize_t written = write(requests_, lines.data(), lines.size());
    if (written <= 0) return absl::UnavailableError("it ended before its time");
    lines.remove_prefix(written);
  }
  return Answer();
}

absl::StatusOr<std::string> Peer::Answer() {
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

Way PeerWay(std::string name, const std::string& python, const std::string& script,
            const std::vector<std::string>& arguments, const std::vector<std::string>& paths) {
  Way way = {.name = std::move(name)};
  auto peer = Peer::Start(python, script, arguments, paths);
  if (!peer.ok()) {
    way.skipped = std::string(peer.status().message());
    return way;
  }
  way.version = (*peer)->version();
  way.time = [peer = *peer](const Turn& turn) -> absl::StatusOr<double> {
    STOKER_ASSIGN_OR_RETURN(const PeerRun run, peer->Run(turn.seconds));
    const double cpu_seconds = run.cpu_seconds + run.children_cpu_seconds;
    return run.images / (turn.cpu_time ? cpu_seconds : run.wall_seconds);
  };
  return way;
}

std::string PeersPython() { return STOKER_PEERS_PYTHON; }

}  // namespace stoker
