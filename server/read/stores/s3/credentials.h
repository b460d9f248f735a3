#ifndef STOKER_SERVER_READ_STORES_S3_CREDENTIALS_H_
#define STOKER_SERVER_READ_STORES_S3_CREDENTIALS_H_

#include <string>

#include "absl/time/time.h"

namespace stoker {

// What signs requests to S3. A plain value, which must not get into a log or an error.
struct S3Credentials {
  std::string key_id, secret;
  std::string token = {};                       // of a session; empty where there is none
  absl::Time expires = absl::InfiniteFuture();  // by the wall's clock
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_S3_CREDENTIALS_H_
