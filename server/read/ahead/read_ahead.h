#ifndef STOKER_SERVER_READ_AHEAD_READ_AHEAD_H_
#define STOKER_SERVER_READ_AHEAD_READ_AHEAD_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/read/cached/raw_cache.h"
#include "server/read/dataset.h"

namespace stoker {

// Reads the bytes of samples from slow storage before a worker needs them, for several readers in fair turns.
//
// A reader's samples come in groups, in the order in which they will be needed. Reading begins with the group that is
// needed next, and goes on while the budget has room. Beyond its next group a reader takes no more than what would be
// left for another one (dynamic threshold: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998), so
// that nobody takes it all. A reader that has no other group never waits for the budget: what has no room is left out,
// and whoever needs it reads it then. So no reader waits for another.
//
// With a cache, samples that it has are not read from the store, and those that were read are kept there once they
// parse.
//
// Thread-safe. One thread begins all reads and frees what was read. The budget bounds the bytes that are read or being
// read; beside these each group that waits keeps a few hundred bytes. No lock is held over I/O.
class ReadAhead {
  struct Job;
  struct Lane;
  struct Read;
  struct State;

 public:
  // Tells a time that never goes back. It may be called on any thread.
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  struct Options {
    uint64_t budget_bytes = 0;
    int requests = 1024;                        // of all stores, at once; a store may have a lower bound of its own
    std::shared_ptr<RawCache> cache = nullptr;  // null: nothing is kept
    std::function<void()> on_ready = nullptr;   // is called on any thread whenever a group is ready; must not block
    Clock clock = std::chrono::steady_clock::now;
  };

  // A group of samples on its way. Its bytes go back when it is destroyed, and when reads that have begun have ended.
  class Group {
   public:
    explicit Group(std::shared_ptr<Job> job) : job_(std::move(job)) {}
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    ~Group();

    // Whether all reads of the group have ended, be it well or not. Once true it stays true.
    bool ready() const;

    // Since when it is. Requires ready().
    std::chrono::steady_clock::time_point ready_since() const;

    // Replaces `sample` as Dataset::Read does, with its errors. None where sample `id` was not read ahead: it is not of
    // the group, had no room, or failed along with its neighbours, of which one alone may be at fault. Requires
    // ready(), and that sample.wanted are the fields that the group was added with.
    std::optional<absl::Status> Read(uint64_t id, SampleBytes& sample) const;

   private:
    const std::shared_ptr<Job> job_;
  };

  // One reader's part. Groups outlive it. Thread-safe.
  class Reader {
   public:
    Reader(std::shared_ptr<State> state, std::shared_ptr<Lane> lane);
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader();

    // Returns the samples of a group. It is called once, on a thread of ours, when the group's turn comes; never if the
    // group was destroyed by then. It returns none where their bytes are not needed any more.
    using Ids = std::function<std::vector<uint64_t>()>;

    // Adds a group of which `wanted` is needed, after all those before.
    std::shared_ptr<Group> Add(std::shared_ptr<const StoredSamples> stored, Ids ids, FieldSet wanted = FieldSet::All());

   private:
    const std::shared_ptr<State> state_;
    const std::shared_ptr<Lane> lane_;
  };

  explicit ReadAhead(Options options);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Begins no more reads, and waits for the end of those that have begun. Groups that are not ready stay so.
  ~ReadAhead();

  std::unique_ptr<Reader> OpenReader();

  // Changes the budget. What is held stays.
  void SetBudget(uint64_t bytes);

  uint64_t budget_bytes() const;

  // Bytes that are read or being read for groups.
  uint64_t held_bytes() const;

  // How long a read usually takes; `unknown` until there was one.
  absl::Duration usual_latency(absl::Duration unknown) const;

 private:
  const std::shared_ptr<State> state_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_AHEAD_READ_AHEAD_H_
