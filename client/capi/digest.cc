#include <memory>

#include "client/capi/boundary.h"
#include "client/capi/handles.h"
#include "client/capi/stoker.h"
#include "common/status_macros.h"

using stoker::Call;
using stoker::CallOn;

stoker_digest* stoker_digest_create(void) {
  stoker_digest* digest = nullptr;
  (void)Call([&] {
    digest = stoker::NewHandle(std::make_shared<stoker_digest>());
    return absl::OkStatus();
  });
  return digest;
}

stoker_code stoker_digest_add(stoker_digest* digest, const stoker_batch* batch) {
  return CallOn(digest, [&](stoker_digest& self) -> absl::Status {
    STOKER_ASSIGN_OR_RETURN(const auto from, stoker::Find(batch));
    if (self.finished) return absl::FailedPreconditionError("the digest was taken already");
    return self.digest.Add(from->batch);
  });
}

stoker_code stoker_digest_hex(stoker_digest* digest, char** hex) {
  return CallOn(digest, [&](stoker_digest& self) -> absl::Status {
    if (hex == nullptr) return stoker::NullPointer("hex");
    if (self.finished) return absl::FailedPreconditionError("the digest was taken already");
    self.finished = true;
    *hex = stoker::CopyOf(self.digest.Hex());
    return absl::OkStatus();
  });
}

void stoker_digest_destroy(stoker_digest* digest) { stoker::Release(digest); }
