#ifndef STOKER_CLIENT_CAPI_HANDLES_H_
#define STOKER_CLIENT_CAPI_HANDLES_H_

#include <memory>
#include <utility>

#include "client/capi/boundary.h"
#include "client/capi/stoker.h"
#include "client/loader/batch.h"
#include "client/loader/epoch_digest.h"
#include "client/loader/loader.h"

// Defines the structs that stoker.h only names.

struct stoker_loader {
  stoker::Owner owner;
  std::unique_ptr<stoker::Loader> loader;
  bool waiting = false;  // What stoker_loader_waiting says.
};

struct stoker_batch {
  stoker::Owner owner;
  stoker::Batch batch;
};

struct stoker_digest {
  stoker::EpochDigest digest;
  bool finished = false;
};

namespace stoker {

// Runs `body` on an object, which must be there and belong to this process.
template <typename Handle, typename Body>
stoker_code CallOn(Handle* handle, Body body) noexcept {
  return Call([&]() -> absl::Status {
    if (handle == nullptr) return absl::InvalidArgumentError("a null pointer in place of an object");
    if (const absl::Status status = handle->owner.Check(); !status.ok()) return status;
    return body(*handle);
  });
}

// Deletes an object. In a forked child it stays, because its destructor would wait for threads that are not there.
template <typename Handle>
void Release(Handle* handle) noexcept {
  if (handle != nullptr && handle->owner.here()) delete handle;
}

}  // namespace stoker

#endif  // STOKER_CLIENT_CAPI_HANDLES_H_
