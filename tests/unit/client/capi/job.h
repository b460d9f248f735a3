#ifndef STOKER_TESTS_UNIT_CLIENT_CAPI_JOB_H_
#define STOKER_TESTS_UNIT_CLIENT_CAPI_JOB_H_

#include <memory>
#include <string>
#include <vector>

#include "client/capi/stoker.h"
#include "nlohmann/json.hpp"
#include "tests/support/cluster.h"

namespace stoker {

// The C library's objects with ends to their lives.
struct Delete {
  void operator()(stoker_loader* loader) const { stoker_loader_destroy(loader); }
  void operator()(stoker_batch* batch) const { stoker_batch_release(batch); }
  void operator()(stoker_digest* digest) const { stoker_digest_destroy(digest); }
};
using LoaderPtr = std::unique_ptr<stoker_loader, Delete>;
using BatchPtr = std::unique_ptr<stoker_batch, Delete>;
using DigestPtr = std::unique_ptr<stoker_digest, Delete>;

// Options of a loader of batches of 16 samples, as they are, of a cluster's only dataset.
inline nlohmann::json Job(const Cluster& cluster) {
  return {{"servers", cluster.addresses()},
          {"batch_size", 16},
          {"pipeline", nlohmann::json::object()},
          {"last_batch", "partial"}};
}

// Null where it fails.
inline LoaderPtr MakeLoader(const nlohmann::json& job) {
  stoker_loader* loader = nullptr;
  stoker_loader_create(job.dump().c_str(), &loader);
  return LoaderPtr(loader);
}

// The next batch, waited for; null at the epoch's end and where it fails.
inline BatchPtr Next(const LoaderPtr& loader) {
  stoker_batch* batch = nullptr;
  stoker_loader_next(loader.get(), -1, &batch);
  return BatchPtr(batch);
}

inline stoker_batch_info InfoOf(const BatchPtr& batch) {
  stoker_batch_info info;
  stoker_batch_get_info(batch.get(), &info);
  return info;
}

// What a call gave as char*, freed.
inline std::string Taken(char* text) {
  const std::string copy = text;
  stoker_free(text);
  return copy;
}

// The digest of the rest of an epoch from its first batch; empty where a call fails.
inline std::string DigestOf(const LoaderPtr& loader) {
  const DigestPtr digest(stoker_digest_create());
  stoker_batch* batch = nullptr;
  while (true) {
    if (stoker_loader_next(loader.get(), -1, &batch) != STOKER_OK) return "";
    const BatchPtr owned(batch);
    if (batch == nullptr) break;
    if (stoker_digest_add(digest.get(), batch) != STOKER_OK) return "";
  }
  char* hex = nullptr;
  return stoker_digest_hex(digest.get(), &hex) == STOKER_OK ? Taken(hex) : "";
}

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_CLIENT_CAPI_JOB_H_
