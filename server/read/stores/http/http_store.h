#ifndef STOKER_SERVER_READ_STORES_HTTP_HTTP_STORE_H_
#define STOKER_SERVER_READ_STORES_HTTP_HTTP_STORE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/stores/curl/http_client.h"
#include "server/read/stores/store.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Files behind http:// and https://, on servers that serve ranges. It cannot list. An object's name is not
// percent-encoded: "a b.tar" is asked for as /a%20b.tar. Its version is its ETag, or the time of its last modification.
class HttpStore final : public Store {
 public:
  // `root` is a URL: percent-encoded where it has to be, without a query. InvalidArgument where it says a user or a
  // password, or where the file of headers cannot be read or has a line that is no header. Errors show no header.
  static absl::StatusOr<std::unique_ptr<HttpStore>> Open(const std::string& root, const v1::HttpStore& config);

  // The same with limits of the caller's, for tests, with those of `config` above them.
  static absl::StatusOr<std::unique_ptr<HttpStore>> Open(const std::string& root, const v1::HttpStore& config,
                                                         HttpLimits limits);

  std::string description() const override { return root_; }
  bool is_remote() const override { return true; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing& listing) override;
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override;
  void Read(const Range& range, Done done) override;

 private:
  HttpStore(std::string root, std::vector<std::string> headers, const HttpLimits& limits)
      : root_(std::move(root)), headers_(std::move(headers)), client_(limits) {}

  HttpRequest RequestFor(const std::string& name) const;

  const std::string root_;
  const std::vector<std::string> headers_;
  HttpClient client_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_HTTP_HTTP_STORE_H_
