#ifndef STOKER_CLIENT_CAPI_HANDLES_H_
#define STOKER_CLIENT_CAPI_HANDLES_H_

#include <memory>
#include <utility>

#include "client/capi/boundary.h"
#include "client/capi/stoker.h"
#include "client/loader/batch.h"
#include "client/loader/epoch_digest.h"
#include "client/loader/loader.h"

// What the names of stoker.h stand for.

struct stoker_loader {
  stoker::Owner owner;
  std::unique_ptr<stoker::Loader> loader;
  bool waiting = false;  // stoker_loader_waiting
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

// `body` on an object that must be there and of this process.
template <typename Handle, typename Body>
stoker_code CallOn(Handle* handle, Body body) noexcept {
  return Call([&]() -> absl::Status {
    if (handle == nullptr) return absl::InvalidArgumentError("a null pointer in place of an object");
    if (const absl::Status status = handle->owner.Check(); !status.ok()) return status;
    return body(*handle);
  });
}

// Ends an object; in a forked child it stays, for no destructor can run there.
template <typename Handle>
void Release(Handle* handle) noexcept {
  if (handle != nullptr && handle->owner.here()) delete handle;
}

}  // namespace stoker

#endif  // STOKER_CLIENT_CAPI_HANDLES_H_
