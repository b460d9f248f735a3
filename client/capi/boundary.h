#ifndef STOKER_CLIENT_CAPI_BOUNDARY_H_
#define STOKER_CLIENT_CAPI_BOUNDARY_H_

#include <unistd.h>

#include <exception>
#include <new>
#include <string>

#include "absl/status/status.h"
#include "client/capi/stoker.h"

namespace stoker {

// Stands between callers in C and the C++ below. Thread-safe: each thread has an error of its own.

// Keeps a failure's message for stoker_error(), and returns the status's code.
stoker_code Report(const absl::Status& status);

// The calling thread's last error.
const char* LastError();

// A copy of `text` that stoker_free() frees. Throws std::bad_alloc.
char* CopyOf(const std::string& text);

// Runs the body of a call, which returns an absl::Status. No exception leaves it, whatever allocates or throws inside.
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

// What is wrong with what a caller passed: null in place of where to write `argument`; no object that `type` names; one
// that was let go of; one of the process that this one was forked from.
absl::Status NullPointer(const char* argument);
absl::Status NoObject(const char* type);
absl::Status Gone(const char* type);
absl::Status OfParent();

// Remembers which process made an object. A forked child has the object's memory, but not the threads that serve it,
// and locks that they held stay taken there. So the child may neither use the object nor let go of it.
class Owner {
 public:
  bool here() const { return getpid() == process_; }
  absl::Status Check() const { return here() ? absl::OkStatus() : OfParent(); }

 private:
  const pid_t process_ = getpid();
};

// Marks this process as one that has connected. FailedPrecondition in a forked child of such a process, because gRPC's
// threads stayed in the parent.
absl::Status BeginConnecting();

}  // namespace stoker

#endif  // STOKER_CLIENT_CAPI_BOUNDARY_H_
