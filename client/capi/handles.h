#ifndef STOKER_CLIENT_CAPI_HANDLES_H_
#define STOKER_CLIENT_CAPI_HANDLES_H_

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/capi/boundary.h"
#include "client/capi/stoker.h"
#include "client/loader/batch.h"
#include "client/loader/epoch_digest.h"
#include "client/loader/loader.h"
#include "common/status_macros.h"

// Defines the structs that stoker.h only names.

struct stoker_loader {
  static constexpr uintptr_t kKind = 1;
  static constexpr char kName[] = "stoker_loader";

  std::unique_ptr<stoker::Loader> loader;
  std::atomic<bool> waiting = false;  // What stoker_loader_waiting says.
};

struct stoker_batch {
  static constexpr uintptr_t kKind = 2;
  static constexpr char kName[] = "stoker_batch";

  stoker::Batch batch;
};

struct stoker_digest {
  static constexpr uintptr_t kKind = 3;
  static constexpr char kName[] = "stoker_digest";

  stoker::EpochDigest digest;
  bool finished = false;
};

namespace stoker {

// The live objects of one kind, by what callers hold in place of pointers to them. That is never followed, only looked
// up, and never given twice, so that whatever a caller passes is an error where it is no live object. It has 64 bits:
//
//   bits 24 to 63  counts the objects, from 1
//   bits 2 to 23   the process that made it: a forked child has the objects, but not the threads that serve them
//   bits 0 and 1   the kind of object; no pointer to one of C's objects has any of these
//
// Thread-safe. An object that is let go of while another thread's call uses it goes when that call returns.
template <typename Object>
class Handles {
 public:
  static_assert(sizeof(uintptr_t) == 8);

  // Those of this process. A child has its own: another thread may have held the parent's lock when the process forked.
  static Handles& Get() {
    static std::atomic<Handles*> current = nullptr;
    Handles* handles = current.load(std::memory_order_acquire);
    while (handles == nullptr || handles->process_ != getpid()) {
      auto fresh = std::make_unique<Handles>();
      if (current.compare_exchange_strong(handles, fresh.get(), std::memory_order_acq_rel)) return *fresh.release();
    }
    return *handles;
  }

  Object* Add(std::shared_ptr<Object> object) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const uintptr_t handle = ++made_ << 24 | Process() << 2 | Object::kKind;
    objects_.emplace(handle, std::move(object));
    return reinterpret_cast<Object*>(handle);
  }

  // InvalidArgument where there is no such object, or no more; FailedPrecondition where it is a parent process's.
  absl::StatusOr<std::shared_ptr<Object>> Find(const Object* handle) const ABSL_LOCKS_EXCLUDED(mutex_) {
    STOKER_RETURN_IF_ERROR(Check(handle));
    absl::MutexLock lock(&mutex_);
    const auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
    if (found == objects_.end()) return Gone(Object::kName);
    return found->second;
  }

  // Lets go of an object; the errors are Find()'s. A parent process's stays, because its destructor would wait for
  // threads that are not there.
  absl::Status Remove(const Object* handle) ABSL_LOCKS_EXCLUDED(mutex_) {
    STOKER_RETURN_IF_ERROR(Check(handle));
    std::shared_ptr<Object> object;  // Goes after the lock.
    absl::MutexLock lock(&mutex_);
    const auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
    if (found == objects_.end()) return Gone(Object::kName);
    object = std::move(found->second);
    objects_.erase(found);
    return absl::OkStatus();
  }

 private:
  static constexpr uintptr_t kProcessBits = (uintptr_t{1} << 22) - 1;  // Linux has no higher numbers.

  uintptr_t Process() const { return static_cast<uintptr_t>(process_) & kProcessBits; }

  absl::Status Check(const Object* handle) const {
    const auto number = reinterpret_cast<uintptr_t>(handle);
    if (number == 0) return absl::InvalidArgumentError("a null pointer in place of an object");
    if ((number & 3) != Object::kKind) return NoObject(Object::kName);
    if ((number >> 2 & kProcessBits) != Process()) return OfParent();
    return absl::OkStatus();
  }

  const pid_t process_ = getpid();
  mutable absl::Mutex mutex_;
  uintptr_t made_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<uintptr_t, std::shared_ptr<Object>> objects_ ABSL_GUARDED_BY(mutex_);
};

// What a caller holds for a new object.
template <typename Object>
Object* NewHandle(std::shared_ptr<Object> object) {
  return Handles<Object>::Get().Add(std::move(object));
}

// The object that a caller named.
template <typename Object>
absl::StatusOr<std::shared_ptr<Object>> Find(const Object* handle) {
  return Handles<Object>::Get().Find(handle);
}

// Runs `body` on an object, which must be alive and belong to this process.
template <typename Object, typename Body>
stoker_code CallOn(const Object* handle, Body body) noexcept {
  return Call([&]() -> absl::Status {
    STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<Object> object, Find(handle));
    return body(*object);
  });
}

// Lets go of an object; of none where the caller has null.
template <typename Object>
void Release(Object* handle) noexcept {
  if (handle != nullptr) (void)Call([&] { return Handles<Object>::Get().Remove(handle); });
}

}  // namespace stoker

#endif  // STOKER_CLIENT_CAPI_HANDLES_H_
