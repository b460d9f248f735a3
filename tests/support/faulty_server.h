#ifndef STOKER_TESTS_SUPPORT_FAULTY_SERVER_H_
#define STOKER_TESTS_SUPPORT_FAULTY_SERVER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace stoker {

// A data service before another one, by gRPC's stock classes, that loses, doubles and changes what it passes on, by a
// seed. Thread-safe.
class FaultyServer {
 public:
  struct Faults {
    double lose_wants = 0, lose_spans = 0, double_spans = 0, corrupt_spans = 0;  // Parts of them.
    uint64_t seed = 1;
  };
  // What it did.
  struct Counts {
    std::atomic<uint64_t> lost = 0, doubled = 0, corrupted = 0;
  };

  FaultyServer(const std::string& target, const Faults& faults);
  ~FaultyServer();

  const std::string& address() const { return address_; }
  const Counts& counts() const { return counts_; }

 private:
  class Service;

  Counts counts_;
  std::string address_;
  std::unique_ptr<Service> service_;
};

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_FAULTY_SERVER_H_
