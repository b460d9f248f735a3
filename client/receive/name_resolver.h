#ifndef STOKER_CLIENT_RECEIVE_NAME_RESOLVER_H_
#define STOKER_CLIENT_RECEIVE_NAME_RESOLVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace stoker {

// Resolves servers' names in threads of its own, so that nobody hangs where a name server or a file system does: the
// system's resolver can neither be given a deadline nor be interrupted. What a name stood for is kept meanwhile.
//
// At most one resolution of each name, and kMostThreads of all names, is under way at a time. The rest wait for their
// turn.
// Threads are not waited for at the end: each of them ends with its resolution, which is the system's affair, begins no
// other, and touches nothing but what it shares with this. Thread-safe.
class NameResolver {
 public:
  static constexpr int kMostThreads = 16;

  using Addresses = absl::StatusOr<std::vector<std::string>>;

  // What stands behind a name that ParseServerName takes. It may block, and is called by several threads, also after
  // this resolver is gone.
  using Function = std::function<Addresses(const std::string& server)>;

  // The default is Resolve of resolve.h.
  explicit NameResolver(Function resolve = nullptr);
  NameResolver(const NameResolver&) = delete;
  NameResolver& operator=(const NameResolver&) = delete;
  ~NameResolver();

  // Begins to resolve those names that are not being resolved. Never blocks.
  void Begin(const std::vector<std::string>& servers);

  // Waits until none of the names is being resolved, but at most `patience`.
  void Await(const std::vector<std::string>& servers, absl::Duration patience);

  // What each of the names stood for when it was resolved last; Unavailable where that has not come to an end yet.
  // Never blocks.
  std::vector<Addresses> Latest(const std::vector<std::string>& servers) const;

  // Counts the resolutions that came to an end: where it is unchanged, so is what Latest() returns.
  uint64_t finished() const;

 private:
  struct State;

  const std::shared_ptr<State> state_;  // Its threads share it.
};

}  // namespace stoker

#endif  // STOKER_CLIENT_RECEIVE_NAME_RESOLVER_H_
