#ifndef STOKER_TESTS_SUPPORT_CLUSTER_H_
#define STOKER_TESTS_SUPPORT_CLUSTER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/loader/loader.h"
#include "server/main/server.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Servers in this process, each on a free port of the loopback. One thread at a time.
class Cluster {
 public:
  // Starts `servers` servers of `config`, whose listen address is overridden. Fails the test if one does not start.
  Cluster(int servers, const v1::ServerConfig& config);

  // Starts a server of each configuration, likewise.
  explicit Cluster(std::vector<v1::ServerConfig> configs);

  // Their addresses, for LoaderOptions::servers.
  const std::vector<std::string>& addresses() const { return addresses_; }

  Server& server(int index) { return *servers_[index]; }

  // Ends a server at once: its streams break.
  void Stop(int index) { servers_[index].reset(); }

  // Starts a stopped server again where it was.
  void Restart(int index);

 private:
  std::vector<v1::ServerConfig> configs_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::string> addresses_;
};

// A configuration with one synthetic dataset "synthetic" of `samples` raw samples: an `image` of 16×12×3 and an
// int32 `number`, and two workers.
v1::ServerConfig SyntheticConfig(uint64_t samples);

// One epoch as a job sees it.
struct EpochResult {
  absl::Status status;
  std::string digest;                // of what the servers made; empty for a rank's, a resumed or a failed epoch
  std::vector<uint64_t> sample_ids;  // of real samples, in order
  std::vector<uint64_t> positions;   // likewise
};

// Iterates one epoch of `loader`, telling `before_batch` the number of batches so far before each.
EpochResult RunEpoch(
    Loader& loader, const std::function<void(int)>& before_batch = [](int) {});

// Makes a loader and iterates its first epoch.
EpochResult RunEpoch(const LoaderOptions& options);

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_CLUSTER_H_
