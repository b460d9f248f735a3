#ifndef STOKER_SERVER_MAIN_RELOAD_H_
#define STOKER_SERVER_MAIN_RELOAD_H_

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/main/server.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Reads a server's configuration again while it serves, on a thread of its own, since datasets may have to be indexed.
//
// New streams get the new datasets, lists and pipelines; open ones go on with what they read. All of it is taken, or,
// if anything is wrong, nothing is. Thread-safe.
class Reloader {
 public:
  // `config` is what `server` was started with, and `read` gives the configuration as it is now.
  Reloader(Server* server, v1::ServerConfig config, std::function<absl::StatusOr<v1::ServerConfig>()> read);
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;
  ~Reloader();

  // Reads it again soon. Returns at once. The log says what came of it.
  void Reload();

  // Likewise, but does nothing where it is what was read last, good or not: its file changed.
  void ReloadIfOther();

  // Returns whether it is at work.
  bool busy() const;

 private:
  void Run();
  absl::Status Apply(v1::ServerConfig fresh);

  Server* const server_;
  const std::function<absl::StatusOr<v1::ServerConfig>()> read_;
  v1::ServerConfig config_;                     // what the server has now; used by the thread alone,
  absl::StatusOr<v1::ServerConfig> read_last_;  // as this is

  mutable absl::Mutex mutex_;
  bool asked_ ABSL_GUARDED_BY(mutex_) = false;
  bool anyway_ ABSL_GUARDED_BY(mutex_) = false;  // also where it is what was read last
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Returns the keys in which the two differ and which a running server does not take up, such as "workers".
std::vector<std::string> KeysForNextStart(const v1::ServerConfig& was, const v1::ServerConfig& is);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_RELOAD_H_
