#ifndef STOKER_SERVER_READ_STORES_S3_S3_STORE_H_
#define STOKER_SERVER_READ_STORES_S3_S3_STORE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/stores/curl/http_client.h"
#include "server/read/stores/s3/credential_chain.h"
#include "server/read/stores/s3/list_answer.h"
#include "server/read/stores/s3/signature.h"
#include "server/read/stores/store.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Objects of a bucket of S3, or of what speaks its protocol, whose keys begin with a prefix. An object's version is its
// ETag. Keys with "." or ".." between slashes are left out of listings: no folder could have them.
class S3Store final : public Store {
 public:
  struct Options {
    HttpLimits limits;
    CredentialChain::Environment environment;  // this process's where it is not set
  };

  // `root` is "s3://BUCKET" or "s3://BUCKET/PREFIX", which is not percent-encoded. InvalidArgument where it names no
  // bucket, or the endpoint is no URL. It finds credentials, unless the bucket is read without: PermissionDenied and
  // Unavailable where that fails.
  static absl::StatusOr<std::unique_ptr<S3Store>> Open(const std::string& root, const v1::S3Store& config);
  static absl::StatusOr<std::unique_ptr<S3Store>> Open(const std::string& root, const v1::S3Store& config,
                                                       Options options);

  std::string description() const override { return root_; }
  std::string identity() const override;  // The endpoint is part of it: others may have a bucket of this name.
  bool is_remote() const override { return true; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing& listing) override;
  absl::StatusOr<std::vector<std::string>> Folders() override;
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override;
  void Read(const Range& range, Done done) override;

 private:
  // Where the bucket is. A plain value.
  struct Place {
    std::string scheme;  // "https://"
    std::string host;    // with the port, if any
    std::string path;    // before the key: "/BUCKET/", or "/"
    std::string region;
  };

  S3Store(std::string root, std::string prefix, Place place, const HttpLimits& limits,
          std::unique_ptr<CredentialChain> credentials)
      : root_(std::move(root)),
        prefix_(std::move(prefix)),
        place_(std::move(place)),
        credentials_(std::move(credentials)),
        client_(limits) {}

  static absl::StatusOr<Place> PlaceOf(const std::string& bucket, const v1::S3Store& config,
                                       const CredentialChain::Environment& environment);

  // Lists what begins with `prefix`, with what `query` adds to the request. `take` gets page after page, and returns
  // how many more objects are wanted; the first page has at most `most`.
  absl::Status ListPages(const std::string& prefix, std::map<std::string, std::string> query, uint64_t most,
                         const std::function<uint64_t(ListAnswer&)>& take);

  // Makes sure that there are credentials for a while.
  absl::Status Authorize();
  HttpRequest RequestFor(const std::string& method, const std::string& key,
                         const std::map<std::string, std::string>& query) const;
  HttpRequest RequestForObject(const std::string& method, const std::string& name) const;

  const std::string root_;    // "s3://bucket/prefix"
  const std::string prefix_;  // "prefix/", or ""
  const Place place_;
  const std::unique_ptr<CredentialChain> credentials_;  // null for a bucket that is read without
  HttpClient client_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_S3_S3_STORE_H_
