#ifndef STOKER_SERVER_READ_STORES_TRAFFIC_H_
#define STOKER_SERVER_READ_STORES_TRAFFIC_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace stoker {

// A kind of store.
enum class Backend { kLocal, kHttp, kS3 };
inline constexpr std::array kBackends = {Backend::kLocal, Backend::kHttp, Backend::kS3};

// "local", "http", "s3".
const char* NameOf(Backend backend);

// Counts what the process reads from storage, for operators. One counts for all stores. Thread-safe.
class Traffic {
 public:
  static Traffic& OfProcess();

  // A request ended with `code`: HTTP's status, "error" where the answer did not come or broke off, "cancelled" where
  // another request was faster.
  void Asked(Backend backend, const std::string& code) ABSL_LOCKS_EXCLUDED(mutex_);

  // So many bytes came.
  void Read(Backend backend, uint64_t bytes) { bytes_[static_cast<size_t>(backend)] += bytes; }

  uint64_t bytes(Backend backend) const { return bytes_[static_cast<size_t>(backend)]; }

  // Returns the number of requests by store and code.
  std::map<std::pair<Backend, std::string>, uint64_t> requests() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  std::array<std::atomic<uint64_t>, kBackends.size()> bytes_ = {};
  mutable absl::Mutex mutex_;
  std::map<std::pair<Backend, std::string>, uint64_t> requests_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_TRAFFIC_H_
