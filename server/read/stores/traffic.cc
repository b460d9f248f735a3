#include "server/read/stores/traffic.h"

namespace stoker {

const char* NameOf(Backend backend) {
  switch (backend) {
    case Backend::kLocal: return "local";
    case Backend::kHttp: return "http";
    case Backend::kS3: return "s3";
  }
  return "";
}

Traffic& Traffic::OfProcess() {
  static Traffic traffic;
  return traffic;
}

void Traffic::Asked(Backend backend, const std::string& code) {
  absl::MutexLock lock(&mutex_);
  ++requests_[{backend, code}];
}

std::map<std::pair<Backend, std::string>, uint64_t> Traffic::requests() const {
  absl::MutexLock lock(&mutex_);
  return requests_;
}

}  // namespace stoker
