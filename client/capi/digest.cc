#include <new>

#include "client/capi/boundary.h"
#include "client/capi/handles.h"
#include "client/capi/stoker.h"
#include "common/status_macros.h"

using stoker::Call;

stoker_digest* stoker_digest_create(void) {
  stoker_digest* digest = nullptr;
  (void)Call([&] {
    digest = new stoker_digest;
    return absl::OkStatus();
  });
  return digest;
}

stoker_code stoker_digest_add(stoker_digest* digest, const stoker_batch* batch) {
  return stoker::CallOn(batch, [&](const stoker_batch& from) -> absl::Status {
    if (digest == nullptr) return absl::InvalidArgumentError("digest: a null pointer");
    if (digest->finished) return absl::FailedPreconditionError("the digest was taken already");
    return digest->digest.Add(from.batch);
  });
}

stoker_code stoker_digest_hex(stoker_digest* digest, char** hex) {
  return Call([&]() -> absl::Status {
    if (digest == nullptr) return absl::InvalidArgumentError("digest: a null pointer");
    if (digest->finished) return absl::FailedPreconditionError("the digest was taken already");
    digest->finished = true;
    *hex = stoker::CopyOf(digest->digest.Hex());
    return absl::OkStatus();
  });
}

void stoker_digest_destroy(stoker_digest* digest) { delete digest; }
