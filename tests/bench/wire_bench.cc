// bench-wire [--peers] [--seconds S] [--rounds N] [--json FILE]: what a byte costs from a server's memory to a client's
// slab, in GB/s and core-seconds per GB of the client's and the server's process, in the clear and by TLS, beside two
// floors in the same run: memcpy, and raw TCP with 1 MiB calls. The ways take turns, round by round, so that a
// machine's drift hits all alike; medians are printed.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/time/clock.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "nlohmann/json.hpp"
#include "tests/bench/fleet.h"
#include "tests/bench/peer.h"
#include "tests/bench/table.h"

namespace stoker {
namespace {

constexpr size_t kCallBytes = 1 << 20;
constexpr size_t kBatch = 256, kSampleBytes = 224 * 224 * 3, kBatchBytes = kBatch * kSampleBytes;  // 38.5 MB

// Spans that are kept: beside the wire a server has nothing to do.
constexpr char kConfig[] =
    "{log: {level: error}, workers: 1, memory_limit: 3GiB, span_cache: 800MiB, datasets: [{name: wire, synthetic: {"
    "samples: 4096, fields: [{name: image, dtype: uint8, shape: [224, 224, 3]}]}}]}";

constexpr size_t kTcp = 1;  // Its place among the ways.

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Cost {
  double gigabytes_per_second = 0;
  double client = 0, server = 0;  // Core-seconds per gigabyte; 0 where there is no server.
};

// One way from a server's memory to a client's. `measure` takes so many seconds.
struct WireWay {
  std::string name;
  std::function<absl::StatusOr<Cost>(double seconds)> measure;
  std::string skipped = {}, version = {};
};

// A way whose client is this process. `move` says how many bytes it moved; `server` the server's seconds on cores.
WireWay OwnWay(
    std::string name, std::function<uint64_t()> move, std::function<double()> server = [] { return 0.0; }) {
  auto measure = [move = std::move(move), server = std::move(server)](double seconds) -> absl::StatusOr<Cost> {
    move();  // Warm: pages, connections, windows.
    const auto start = Clock::now();
    const double client_cpu = OwnCpuSeconds(), server_cpu = server();
    uint64_t bytes = 0;
    while (SecondsSince(start) < seconds) bytes += move();
    const double gigabytes = static_cast<double>(bytes) / 1e9;
    return Cost{gigabytes / SecondsSince(start), (OwnCpuSeconds() - client_cpu) / gigabytes,
                (server() - server_cpu) / gigabytes};
  };
  return {std::move(name), std::move(measure)};
}

WireWay TfService() {
  WireWay way = {.name = "tf.data service"};
  auto peer = Peer::Start(PeersPython(), "tfservice_peer.py", {"wire"}, {});
  if (!peer.ok()) {
    way.skipped = std::string(peer.status().message());
    return way;
  }
  way.version = (*peer)->version();
  way.measure = [peer = *peer](double seconds) -> absl::StatusOr<Cost> {
    STOKER_ASSIGN_OR_RETURN(const PeerRun run, peer->Run(seconds));
    const double gigabytes = run.images * kSampleBytes / 1e9;
    return Cost{gigabytes / run.wall_seconds, run.cpu_seconds / gigabytes, run.children_cpu_seconds / gigabytes};
  };
  return way;
}

// A forked process that writes to whoever connects, 1 MiB a call; it must start before any thread does.
class RawTcp {
 public:
  RawTcp() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    STOKER_CHECK(bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(listener, 1) == 0);
    STOKER_CHECK(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    server_ = fork();
    STOKER_CHECK(server_ >= 0);
    if (server_ == 0) Write(accept(listener, nullptr, nullptr));
    close(listener);
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    STOKER_CHECK(connect(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0);
  }
  ~RawTcp() {
    close(socket_);
    kill(server_, SIGKILL);
    waitpid(server_, nullptr, 0);
  }

  double ServerCpuSeconds() const { return CpuSecondsOf(server_); }

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

  pid_t server_ = -1;
  int socket_ = -1;
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

std::unique_ptr<Loader> LoaderOf(const Fleet& fleet, const std::string& tls_ca_file = "") {
  LoaderOptions options;
  options.servers = fleet.addresses();
  options.tls_ca_file = tls_ca_file;
  options.pipeline = v1::Pipeline();  // The bytes as they are: no work but the wire.
  options.batch_size = kBatch;
  return MakeLoader(std::move(options));
}

// The next batch's bytes, of the same epoch for ever: the server has made it once.
uint64_t NextOfEpoch0(Loader& loader) {
  for (;;) {
    auto batch = loader.Next();
    if (!batch.ok()) Die(batch.status().ToString());
    if (batch->has_value()) return (*batch)->tensors()[0].bytes;
    loader.SetEpoch(0);
  }
}

Cost MedianOf(const std::vector<Cost>& costs) {
  const auto median = [&](auto member) {
    std::vector<double> values;
    for (const Cost& cost : costs) values.push_back(cost.*member);
    return Median(std::move(values));
  };
  return {median(&Cost::gigabytes_per_second), median(&Cost::client), median(&Cost::server)};
}

void Print(const std::vector<WireWay>& ways, const std::vector<std::vector<Cost>>& costs, const std::string& json) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const Cost tcp = MedianOf(costs[kTcp]);
  std::printf("%-16s %8s %10s %24s %24s\n", "", "GB/s", "raw TCP is", "client core-s per GB", "server core-s per GB");
  for (size_t i = 0; i < ways.size(); ++i) {
    if (!ways[i].skipped.empty()) {
      std::printf("%-16s skipped: %s\n", ways[i].name.c_str(), ways[i].skipped.c_str());
      continue;
    }
    const Cost cost = MedianOf(costs[i]);
    const double ratio = tcp.gigabytes_per_second / cost.gigabytes_per_second;
    // The sign × has two bytes.
    std::printf("%-16s %8.2f %10.2f× %23.3f %24.3f  %s\n", ways[i].name.c_str(), cost.gigabytes_per_second, ratio,
                cost.client, cost.server, ways[i].version.c_str());
    rows.push_back({{"name", ways[i].name},
                    {"gigabytes_per_second", cost.gigabytes_per_second},
                    {"client_core_seconds_per_gigabyte", cost.client},
                    {"server_core_seconds_per_gigabyte", cost.server},
                    {"version", ways[i].version}});
  }
  WriteFile(json, nlohmann::ordered_json{{"bench", "wire"}, {"rows", rows}}.dump(2) + "\n");
}

// Medians of the time to an epoch's first batch of one sample, which nobody could ask for ahead: of epochs that follow
// each other at once, and of epochs after a rest. gRPC's threads must not have gone to sleep.
void TimeAfterRest(const Fleet& fleet) {
  constexpr int kBusy = 50, kRested = 5;
  constexpr absl::Duration kRest = absl::Seconds(3);
  LoaderOptions options;
  options.servers = fleet.addresses();
  options.pipeline = v1::Pipeline();
  options.batch_size = 1;
  options.prefetch = 1;
  const auto loader = MakeLoader(std::move(options));
  uint64_t epoch = 0;
  const auto first_batch_ms = [&] {
    loader->SetEpoch(epoch += 2);
    const auto start = Clock::now();
    NextBatch(*loader);
    return 1e3 * SecondsSince(start);
  };
  std::vector<double> busy, rested;
  for (int i = 0; i < kBusy; ++i) busy.push_back(first_batch_ms());
  for (int i = 0; i < kRested; ++i) {
    absl::SleepFor(kRest);
    rested.push_back(first_batch_ms());
  }
  std::printf("\nA single sample takes %.2f ms; after a rest of %g s, %.2f ms.\n", Median(busy),
              absl::ToDoubleSeconds(kRest), Median(rested));
}

int Main(int argc, char** argv) {
  CLI::App app("Times the wire: stokerd to a loader's slab, beside memcpy and raw TCP with calls of 1 MiB",
               "bench-wire");
  double seconds = 2;
  int rounds = 5;
  bool peers = false;
  std::string json;
  app.add_option("--seconds", seconds, "Of each measurement")->capture_default_str();
  app.add_option("--rounds", rounds, "Turns that the ways take; medians are printed")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_flag(
      "--peers", peers,
      "Also the tf.data service, from a Python environment that `./dev bench wire --peers` makes once (minutes, "
      "8 GB)");
  app.add_option("--json", json, "Write the figures as one JSON object")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);

  signal(SIGPIPE, SIG_IGN);
  RawTcp tcp;  // Forks: before the loader's threads.
  TuneAllocator();
  const Certificate certificate;
  const TextFile config(kConfig);
  const Fleet server(1, {"--config", config.path()});
  const Fleet tls_server(
      1, {"--config", config.path(), "--tls-cert", certificate.certificate(), "--tls-key", certificate.key()});
  const auto loader = LoaderOf(server);
  const auto tls_loader = LoaderOf(tls_server, certificate.certificate());
  std::vector<uint8_t> source(kBatchBytes, 1), slab(kBatchBytes, 2);
  for (Loader* each : {loader.get(), tls_loader.get()})
    for (uint64_t i = 0; i < each->batches_per_epoch(); ++i) NextOfEpoch0(*each);

  std::vector<WireWay> ways;
  ways.push_back(OwnWay("memcpy", [&] { return std::memcpy(slab.data(), source.data(), kBatchBytes), kBatchBytes; }));
  ways.push_back(OwnWay(
      "raw TCP", [&] { return tcp.Receive(slab); }, [&] { return tcp.ServerCpuSeconds(); }));
  ways.push_back(OwnWay(
      "stoker", [&] { return NextOfEpoch0(*loader); }, [&] { return server.CpuSeconds(); }));
  ways.push_back(OwnWay(
      "stoker, TLS", [&] { return NextOfEpoch0(*tls_loader); }, [&] { return tls_server.CpuSeconds(); }));
  if (peers) ways.push_back(TfService());

  std::vector<std::vector<Cost>> costs(ways.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < ways.size(); ++i) {
      if (!ways[i].skipped.empty()) continue;
      const auto cost = ways[i].measure(seconds);
      if (cost.ok()) {
        costs[i].push_back(*cost);
      } else {
        ways[i].skipped = std::string(cost.status().message());
      }
    }
  }
  Print(ways, costs, json);
  TimeAfterRest(server);
  return 0;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
