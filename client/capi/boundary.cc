#include "client/capi/boundary.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

constexpr size_t kErrorBytes = 4096;

// An array has no destructor, so a thread may still fail while it ends.
thread_local char last_error[kErrorBytes];

std::atomic<pid_t> connected_process = 0;

}  // namespace

stoker_code Report(const absl::Status& status) {
  if (status.ok()) return STOKER_OK;
  absl::string_view message = status.message();
  if (message.size() >= kErrorBytes) {
    size_t end = kErrorBytes - 1;
    while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xc0) == 0x80) --end;  // Keeps characters whole.
    message = message.substr(0, end);
  }
  std::memcpy(last_error, message.data(), message.size());
  last_error[message.size()] = '\0';
  return static_cast<stoker_code>(status.code());
}

const char* LastError() { return last_error; }

char* CopyOf(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

absl::Status NullPointer(const char* argument) {
  return absl::InvalidArgumentError(absl::StrCat(argument, ": a null pointer"));
}

absl::Status NoObject(const char* type) {
  return absl::InvalidArgumentError(absl::StrCat("the pointer is to no ", type, " of this library"));
}

absl::Status Gone(const char* type) {
  return absl::InvalidArgumentError(absl::StrCat("the ", type, " was let go of already"));
}

absl::Status OfParent() {
  return absl::FailedPreconditionError(
      "this process was forked from the one that made the object, which cannot be used here");
}

absl::Status BeginConnecting() {
  pid_t process = 0;
  if (connected_process.compare_exchange_strong(process, getpid()) || process == getpid()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "this process was forked from one that had connected to servers already, whose threads it lacks: connect after "
      "the fork only, or start processes with 'spawn' or 'forkserver' instead of 'fork'");
}

}  // namespace stoker
