// Whatever text is given as a saved state, it is a place in the job's epochs or an error that says why not.

#include <cstdint>
#include <string>

#include "client/loader/state.h"
#include "common/check.h"

namespace stoker {
namespace {

JobIdentity Job() {
  JobIdentity job{.dataset = "photos", .pipeline_hash = 7, .seed = 3};
  job.identity.set_fingerprint("0123456789abcdef0123456789abcdef");
  job.identity.set_samples(1000);
  job.identity.set_pixel_version(1);
  job.pipeline.add_ops()->mutable_random_horizontal_flip();
  return job;
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const stoker::JobIdentity job = stoker::Job();
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (bool accept_other_pixels : {false, true}) {
    const auto cursor = stoker::DecodeState(text, job, accept_other_pixels);
    STOKER_CHECK(cursor.ok() ? cursor->position < 1000 : !cursor.status().message().empty());
    if (!cursor.ok()) continue;
    const auto again = stoker::DecodeState(stoker::EncodeState(job, *cursor), job, false);
    STOKER_CHECK(again.ok() && *again == *cursor);
  }
  return 0;
}
