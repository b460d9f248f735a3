#ifndef STOKER_SERVER_READ_STORES_S3_SIGNATURE_H_
#define STOKER_SERVER_READ_STORES_S3_SIGNATURE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/read/stores/s3/credentials.h"

namespace stoker {

// A request without a body as AWS Signature Version 4 sees it. A plain value.
struct SignedRequest {
  std::string method = "GET";
  std::string host;                                 // with the port, where that is not the scheme's own
  std::string path;                                 // percent-encoded once, as it is sent
  std::map<std::string, std::string> query = {};    // percent-encoded; the order is the one to send them in
  std::map<std::string, std::string> headers = {};  // that are to be signed too, by their names in lowercase
};

// Returns the headers that sign a request to the service `s3` of `region` at the time `now`, by the wall's clock:
// Authorization, x-amz-date, x-amz-content-sha256 and, for a session, x-amz-security-token. Pure.
//
// libcurl signs too, but 7.88 signs paths with '=', '+' or '(' and unsorted queries wrongly.
std::vector<std::string> Sign(const SignedRequest& request, const S3Credentials& credentials, absl::string_view region,
                              absl::Time now);

// Returns "a=1&b=2". Pure.
std::string QueryString(const std::map<std::string, std::string>& query);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_S3_SIGNATURE_H_
