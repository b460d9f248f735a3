#ifndef STOKER_SERVER_READ_STORES_CURL_EVENT_LOOP_H_
#define STOKER_SERVER_READ_STORES_CURL_EVENT_LOOP_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/read/stores/curl/hedging.h"
#include "server/read/stores/curl/http_exchange.h"
#include "server/read/stores/curl/pace.h"
#include "server/read/stores/traffic.h"

namespace stoker {

// How requests are made, and when they are given up.
struct HttpLimits {
  std::optional<Backend> backend = Backend::kHttp;  // what they are counted for, if anything
  std::string ca_file;                              // the authorities in PEM; the system's where this is empty
  int requests = 64;  // in flight at once, which is the most connections that there are too

  // A request ends with an error after so many tries, or so long after the first of them began.
  int tries = 10;
  absl::Duration total = absl::Minutes(5);

  absl::Duration connect = absl::Seconds(10);
  absl::Duration silence = absl::Seconds(20);  // until the first byte, and between two
  // A read whose first byte is late is asked for a second time (see Hedging), but not before this.
  absl::Duration least_patience = absl::Milliseconds(20);
  absl::Duration first_pause = absl::Milliseconds(100);
  absl::Duration longest_pause = absl::Seconds(10);
};

// One try of a request.
class Transfer;

// A thread that makes HTTP requests by one multi handle of libcurl, each by as many tries as it takes: after a lost
// connection, 408, 429 and 5xx it tries again after a pause, a range from the byte where it broke. Throttling slows all
// of the loop's requests down. A range whose first byte is late is asked for twice. Requests speak HTTP/1.1, each on a
// connection of its own, which the next one takes over.
//
// Start is thread-safe. `done` is called on the loop's thread, or by the destructor, which ends all requests with
// Unavailable.
class EventLoop {
 public:
  explicit EventLoop(const HttpLimits& limits);
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  void Start(HttpRequest request, HttpDone done) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Transfers = std::deque<std::unique_ptr<Transfer>>;

  void Run();
  // Takes over what Start left; returns whether to go on.
  bool TakeStarted() ABSL_LOCKS_EXCLUDED(mutex_);
  void TakeWaiting(absl::Time now);
  void StartReady(absl::Time now);
  void EndFinished(absl::Time now);
  void EndSilent(absl::Time now);
  void EndLost(absl::Time now);
  void StartTwins(absl::Time now);
  // Ends the try of `curl`, an easy handle, by libcurl's result: calls the transfer's `done`, or lets it wait for its
  // next try.
  void EndTry(void* curl, int result, absl::Time now);
  // Gives `transfer` a free handle.
  void Activate(std::unique_ptr<Transfer> transfer, absl::Time now);
  // Counts a request that ended, and what it brought.
  void Count(void* curl, const std::string& code) const;
  // Takes a transfer from its handle, which is free from then on.
  std::unique_ptr<Transfer> Deactivate(void* curl);
  absl::Duration UntilNext(absl::Time now) const;
  void EndAll();

  const HttpLimits limits_;
  void* const multi_;  // CURLM

  absl::Mutex mutex_;
  Transfers started_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  // The thread's own.
  Transfers ready_;
  std::multimap<absl::Time, std::unique_ptr<Transfer>> waiting_;  // by when they try again
  std::map<void*, std::unique_ptr<Transfer>> active_;             // by their easy handles
  std::vector<void*> idle_;                                       // easy handles
  Pace pace_;
  Hedging hedging_;
  std::minstd_rand random_{std::random_device()()};

  std::thread thread_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_CURL_EVENT_LOOP_H_
