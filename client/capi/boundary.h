#ifndef STOKER_CLIENT_CAPI_BOUNDARY_H_
#define STOKER_CLIENT_CAPI_BOUNDARY_H_

#include <unistd.h>

#include <exception>
#include <new>
#include <string>

#include "absl/status/status.h"
#include "client/capi/stoker.h"

namespace stoker {

// What stands between callers in C and the C++ below. Thread-safe: an error is its thread's own.

// Keeps the message of a failure for stoker_error() and gives its code.
stoker_code Report(const absl::Status& status);

// The calling thread's last error.
const char* LastError();

// A copy of `text` that stoker_free() frees. Throws std::bad_alloc.
char* CopyOf(const std::string& text);

// Runs the body of a call, `absl::Status()`. No exception leaves it, whatever allocates or throws inside.
template <typename Body>
stoker_code Call(Body body) noexcept {
  try {
    return Report(body());
  } catch (const std::bad_alloc&) {
    return Report(absl::ResourceExhaustedError("out of memory"));
  } catch (const std::exception& error) {
    return Report(absl::InternalError(error.what()));
  } catch (...) {
    return Report(absl::InternalError("an exception that is no std::exception"));
  }
}

// Whose process an object is. A forked child has its memory, but not the threads that serve it, and locks that they
// held stay taken: it may touch nothing, and lets go of nothing.
class Owner {
 public:
  bool here() const { return getpid() == process_; }
  absl::Status Check() const;

 private:
  const pid_t process_ = getpid();
};

// FailedPrecondition in a child of a process that has connected: gRPC's threads stayed there. Otherwise this process
// has now connected.
absl::Status BeginConnecting();

}  // namespace stoker

#endif  // STOKER_CLIENT_CAPI_BOUNDARY_H_
