// bench-wire [--seconds S] [--rounds N] [--json FILE]: what a byte costs from a server's slab to a client's, in GB/s
// and core-seconds per GB of the client's and the server's process, in the clear and by TLS, beside two floors in the
// same run: memcpy, and raw TCP with 1 MiB calls. The ways take turns, round by round, so that a machine's drift hits
// all alike; medians are printed.

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
#include <cstdlib>
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

// Of another process.
double CpuSeconds(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string field;
  std::getline(file, field, ')');  // Its name may hold spaces.
  for (int i = 0; i < 11; ++i) file >> field;
  double user = 0, system = 0;
  file >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

struct Cost {
  double gigabytes_per_second = 0;
  double core_seconds_per_gigabyte = 0;  // The client's,
  double server = 0;                     // and the server's.
};

// One way from a server's memory to a client's.
struct Way {
  std::string name;
  std::function<uint64_t()> move;  // Says how many bytes it moved.
  pid_t server = 0;                // 0: there is none.
};

Cost Measure(double seconds, const Way& way) {
  way.move();  // Warm: pages, connections, windows.
  const auto start = Clock::now();
  const double cpu = CpuSeconds(), server = way.server == 0 ? 0 : CpuSeconds(way.server);
  uint64_t bytes = 0;
  while (SecondsSince(start) < seconds) bytes += way.move();
  const double gigabytes = static_cast<double>(bytes) / 1e9;
  return {gigabytes / SecondsSince(start), (CpuSeconds() - cpu) / gigabytes,
          way.server == 0 ? 0 : (CpuSeconds(way.server) - server) / gigabytes};
}

// A process that ends with this one.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

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

  pid_t server() const { return child_->pid(); }

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
  pid_t pid() const { return child_->pid(); }

 private:
  std::unique_ptr<Child> child_;
  char address_[128] = "";
};

// A certificate for this host, and its key, made for this run.
class Certificate {
 public:
  Certificate() {
    STOKER_CHECK(mkdtemp(folder_) != nullptr);
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=stoker -addext "
        "subjectAltName=IP:127.0.0.1 -keyout " +
        key() + " -out " + certificate() + " 2>/dev/null";
    STOKER_CHECK(std::system(command.c_str()) == 0);
  }
  ~Certificate() { std::filesystem::remove_all(folder_); }

  std::string certificate() const { return std::string(folder_) + "/server.crt"; }
  std::string key() const { return std::string(folder_) + "/server.key"; }

 private:
  char folder_[32] = "/tmp/bench-wire-XXXXXX";
};

std::unique_ptr<Loader> MakeLoader(const std::string& address, const std::string& tls_ca_file = "") {
  LoaderOptions options;
  options.servers = {address};
  options.tls_ca_file = tls_ca_file;
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
  return {median(&Cost::gigabytes_per_second), median(&Cost::core_seconds_per_gigabyte), median(&Cost::server)};
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
  const Certificate certificate;
  const Stokerd server({"--synthetic", kSampleShape, "--workers", "1"});
  const Stokerd tls_server({"--synthetic", kSampleShape, "--workers", "1", "--tls-cert", certificate.certificate(),
                            "--tls-key", certificate.key()});
  const auto loader = MakeLoader(server.address());
  const auto tls_loader = MakeLoader(tls_server.address(), certificate.certificate());
  std::vector<uint8_t> source(kBatchBytes, 1), slab(kBatchBytes, 2);

  const Way ways[] = {
      {"memcpy", [&] { return std::memcpy(slab.data(), source.data(), kBatchBytes), kBatchBytes; }},
      {"raw TCP", [&] { return tcp.Receive(slab); }, tcp.server()},
      {"stoker", [&] { return NextBatch(*loader); }, server.pid()},
      {"stoker, TLS", [&] { return NextBatch(*tls_loader); }, tls_server.pid()},
  };
  std::vector<std::vector<Cost>> costs(std::size(ways));
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < std::size(ways); ++i) costs[i].push_back(Measure(seconds, ways[i]));

  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const Cost tcp_cost = Median(costs[1]);
  std::printf("%-12s %8s %24s %14s %24s\n", "", "GB/s", "client core-s per GB", "of raw TCP's", "server core-s per GB");
  for (size_t i = 0; i < std::size(ways); ++i) {
    const Cost cost = Median(costs[i]);
    const double ratio = cost.core_seconds_per_gigabyte / tcp_cost.core_seconds_per_gigabyte;
    std::printf("%-12s %8.2f %24.3f %13.2f× %24.3f\n", ways[i].name.c_str(), cost.gigabytes_per_second,
                cost.core_seconds_per_gigabyte, ratio, cost.server);
    rows.push_back({{"name", ways[i].name},
                    {"gigabytes_per_second", cost.gigabytes_per_second},
                    {"client_core_seconds_per_gigabyte", cost.core_seconds_per_gigabyte},
                    {"server_core_seconds_per_gigabyte", cost.server},
                    {"of_raw_tcp", ratio}});
  }
  if (!json.empty()) std::ofstream(json) << nlohmann::ordered_json{{"rows", rows}}.dump(2) << "\n";
  return 0;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
