#ifndef STOKER_TESTS_SUPPORT_HOSTILE_SERVER_H_
#define STOKER_TESTS_SUPPORT_HOSTILE_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace stoker {

// A server that answers each call with bytes of the test's choice, which need not be messages. Thread-safe.
class HostileServer {
 public:
  // What one call is answered.
  struct Answer {
    std::vector<std::string> messages;           // One after the other, as they are. The call ends after them.
    bool gzip = false;                           // They are compressed, whatever the client takes.
    std::map<std::string, std::string> headers;  // Go before them.
    std::string error;                           // If it is not empty, the call ends with it and not with success.
  };

  // Answers the method of that name, such as "Describe". Called on any thread.
  using Answers = std::function<Answer(const std::string& method)>;

  explicit HostileServer(Answers answers);
  ~HostileServer();

  const std::string& address() const { return address_; }

 private:
  class Service;

  std::string address_;
  std::unique_ptr<Service> service_;
};

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_HOSTILE_SERVER_H_
