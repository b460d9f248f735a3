// bench-wire [--seconds S] [--rounds N] [--json FILE]: what a byte costs from a server's slab to a client's, in GB/s
// and core-seconds per GB of the client's process, beside two floors in the same run: memcpy, and raw TCP with 1 MiB
// calls. The ways take turns, round by round, so that a machine's drift hits all alike; medians are printed.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/loader/loader.h"
#include "common/check.h"
#include "nlohmann/json.hpp"

extern char** environ;

namespace stoker {
namespace {

constexpr size_t kCallBytes = 1 << 20;
constexpr size_t kBatchBytes = 256 * 224 * 224 * 3;  // 38.5 MB
constexpr char kSampleShape[] = "224x224x3";

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Cost {
  double gigabytes_per_second = 0, core_seconds_per_gigabyte = 0;
};

// Runs `move`, which says how many bytes it moved, for `seconds`.
Cost Measure(double seconds, const std::function<uint64_t()>& move) {
  move();  // Warm: pages, connections, windows.
  const auto start = Clock::now();
  const double cpu = CpuSeconds();
  uint64_t bytes = 0;
  while (SecondsSince(start) < seconds) bytes += move();
  const double gigabytes = static_cast<double>(bytes) / 1e9;
  return {gigabytes / SecondsSince(start), (CpuSeconds() - cpu) / gigabytes};
}

// A process that ends with this one.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }

 private:
  const pid_t pid_;
};

// A forked process that writes to whoever connects, 1 MiB a call; it must start before any thread does.
class RawTcp {
 public:
  RawTcp() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    STOKER_CHECK(bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(listener, 1) == 0);
    STOKER_CHECK(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    const pid_t pid = fork();
    STOKER_CHECK(pid >= 0);
    if (pid == 0) Write(accept(listener, nullptr, nullptr));
    child_ = std::make_unique<Child>(pid);
    close(listener);
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    STOKER_CHECK(connect(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0);
  }
  ~RawTcp() { close(socket_); }

  // Receives one batch into `slab`.
  uint64_t Receive(std::vector<uint8_t>& slab) {
    for (size_t done = 0; done < slab.size();) {
      const ssize_t got = recv(socket_, slab.data() + done, std::min(kCallBytes, slab.size() - done), MSG_WAITALL);
      STOKER_CHECK(got > 0);
      done += got;
    }
    return slab.size();
  }

 private:
  [[noreturn]] static void Write(int connection) {
    const std::vector<uint8_t> bytes(kCallBytes, 7);
    while (send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) {
    }
    _exit(0);
  }

  std::unique_ptr<Child> child_;
  int socket_ = -1;
};

// A stokerd from this program's folder, on a free port.
class Stokerd {
 public:
  explicit Stokerd(std::vector<std::string> flags) {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "stokerd";
    flags.insert(flags.begin(), {program, "serve", "--listen", "127.0.0.1:0", "--log-level", "warning"});
    std::vector<char*> argv;
    for (std::string& flag : flags) argv.push_back(flag.data());
    argv.push_back(nullptr);
    int out[2];
    STOKER_CHECK(pipe(out) == 0);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    pid_t pid = 0;
    STOKER_CHECK(posix_spawn(&pid, program.c_str(), &files, nullptr, argv.data(), environ) == 0);
    child_ = std::make_unique<Child>(pid);
    close(out[1]);
    FILE* lines = fdopen(out[0], "r");
    char line[256] = "";
    if (fgets(line, sizeof line, lines) != nullptr && std::sscanf(line, "listening on %127s", address_) == 1) return;
    std::fprintf(stderr, "bench-wire: stokerd did not start\n");
    std::exit(1);
  }

  std::string address() const { return address_; }

 private:
  std::unique_ptr<Child> child_;
  char address_[128] = "";
};

std::unique_ptr<Loader> MakeLoader(const std::string& address) {
  LoaderOptions options;
  options.servers = {address};
  options.pipeline = v1::Pipeline();  // The bytes as they are: no work but the wire.
  options.batch_size = 256;
  auto loader = Loader::Create(options);
  if (loader.ok()) return *std::move(loader);
  std::fprintf(stderr, "bench-wire: %s\n", loader.status().ToString().c_str());
  std::exit(1);
}

uint64_t NextBatch(Loader& loader) {
  auto batch = loader.Next();
  if (batch.ok() && batch->has_value()) return (*batch)->tensors()[0].bytes;
  if (batch.ok()) return NextBatch(loader);  // The next epoch.
  std::fprintf(stderr, "bench-wire: %s\n", batch.status().ToString().c_str());
  std::exit(1);
}

Cost Median(std::vector<Cost> costs) {
  const auto median = [&](auto member) {
    std::sort(costs.begin(), costs.end(), [&](const Cost& a, const Cost& b) { return a.*member < b.*member; });
    return costs[costs.size() / 2].*member;
  };
  return {median(&Cost::gigabytes_per_second), median(&Cost::core_seconds_per_gigabyte)};
}

int Main(int argc, char** argv) {
  CLI::App app("Times the wire: stokerd to a loader's slab, beside memcpy and raw TCP", "bench-wire");
  double seconds = 2;
  int rounds = 5;
  std::string json;
  app.add_option("--seconds", seconds, "Of each measurement")->capture_default_str();
  app.add_option("--rounds", rounds, "Turns that the ways take")->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--json", json, "Write the figures as one JSON object")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);

  RawTcp tcp;  // Forks: before the loader's threads.
  TuneAllocator();
  const Stokerd server({"--synthetic", kSampleShape, "--workers", "1"});
  const auto loader = MakeLoader(server.address());
  std::vector<uint8_t> source(kBatchBytes, 1), slab(kBatchBytes, 2);

  const std::pair<std::string, std::function<uint64_t()>> ways[] = {
      {"memcpy", [&] { return std::memcpy(slab.data(), source.data(), kBatchBytes), kBatchBytes; }},
      {"raw TCP", [&] { return tcp.Receive(slab); }},
      {"stoker", [&] { return NextBatch(*loader); }},
  };
  std::vector<std::vector<Cost>> costs(std::size(ways));
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < std::size(ways); ++i) costs[i].push_back(Measure(seconds, ways[i].second));

  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const Cost tcp_cost = Median(costs[1]);
  std::printf("%-10s %8s %24s %18s\n", "", "GB/s", "client core-s per GB", "of raw TCP's");
  for (size_t i = 0; i < std::size(ways); ++i) {
    const Cost cost = Median(costs[i]);
    const double ratio = cost.core_seconds_per_gigabyte / tcp_cost.core_seconds_per_gigabyte;
    std::printf("%-10s %8.2f %24.3f %17.2f×\n", ways[i].first.c_str(), cost.gigabytes_per_second,
                cost.core_seconds_per_gigabyte, ratio);
    rows.push_back({{"name", ways[i].first},
                    {"gigabytes_per_second", cost.gigabytes_per_second},
                    {"client_core_seconds_per_gigabyte", cost.core_seconds_per_gigabyte},
                    {"of_raw_tcp", ratio}});
  }
  if (!json.empty()) std::ofstream(json) << nlohmann::ordered_json{{"rows", rows}}.dump(2) << "\n";
  return 0;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
