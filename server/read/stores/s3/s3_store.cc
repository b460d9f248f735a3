#include "server/read/stores/s3/s3_store.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr uint64_t kPage = 1000;  // objects of a listing's page, which is S3's most

std::string OwnEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

// Returns the first of `values` that is not empty.
std::string FirstOf(std::initializer_list<std::string> values) {
  for (const std::string& value : values)
    if (!value.empty()) return value;
  return "";
}

bool HasDotComponent(const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  return std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part == "." || part == ".."; });
}

}  // namespace

absl::StatusOr<std::unique_ptr<S3Store>> S3Store::Open(const std::string& root, const v1::S3Store& config) {
  return Open(root, config, Options());
}

absl::StatusOr<std::unique_ptr<S3Store>> S3Store::Open(const std::string& root, const v1::S3Store& config,
                                                       Options options) {
  if (!options.environment) options.environment = OwnEnvironment;
  absl::string_view rest = root;
  if (!absl::ConsumePrefix(&rest, "s3://")) return absl::InvalidArgumentError("is no s3:// URL");
  const std::string bucket(rest.substr(0, rest.find('/')));
  const bool plain = !bucket.empty() && std::all_of(bucket.begin(), bucket.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_';
  });
  if (!plain) return absl::InvalidArgumentError("names no bucket: write s3://BUCKET/PREFIX");
  std::string prefix(rest.substr(std::min(rest.size(), bucket.size() + 1)));
  while (absl::EndsWith(prefix, "/")) prefix.pop_back();
  const std::string shown = absl::StrCat("s3://", bucket, prefix.empty() ? "" : "/", prefix);
  if (!prefix.empty()) prefix += "/";
  STOKER_ASSIGN_OR_RETURN(Place place, PlaceOf(bucket, config, options.environment));
  HttpLimits limits = options.limits;
  limits.backend = Backend::kS3;
  limits.ca_file = FirstOf({config.ca_file(), limits.ca_file, options.environment("AWS_CA_BUNDLE")});
  if (config.requests() > 0) limits.requests = static_cast<int>(std::min(config.requests(), 4096u));
  limits = WithAuthorities(limits);
  std::unique_ptr<CredentialChain> credentials;
  if (!config.anonymous())
    credentials = std::make_unique<CredentialChain>(CredentialChain::Options{
        .profile = config.profile(), .region = place.region, .environment = options.environment, .limits = limits});
  std::unique_ptr<S3Store> store(
      new S3Store(shown, std::move(prefix), std::move(place), limits, std::move(credentials)));
  STOKER_RETURN_IF_ERROR(store->Authorize());
  return store;
}

absl::StatusOr<S3Store::Place> S3Store::PlaceOf(const std::string& bucket, const v1::S3Store& config,
                                                const CredentialChain::Environment& environment) {
  Place place;
  place.region = FirstOf({config.region(), environment("AWS_REGION"), environment("AWS_DEFAULT_REGION"),
                          CredentialChain::RegionOf(config.profile(), environment), "us-east-1"});
  std::string endpoint =
      FirstOf({config.endpoint(), environment("AWS_ENDPOINT_URL_S3"), environment("AWS_ENDPOINT_URL")});
  // A certificate for *.s3.amazonaws.com does not cover names with dots.
  const bool in_path =
      config.has_path_style() ? config.path_style() : !endpoint.empty() || absl::StrContains(bucket, ".");
  if (endpoint.empty()) endpoint = absl::StrCat("https://s3.", place.region, ".amazonaws.com");
  absl::string_view host = endpoint;
  if (absl::ConsumePrefix(&host, "https://")) {
    place.scheme = "https://";
  } else if (absl::ConsumePrefix(&host, "http://")) {
    place.scheme = "http://";
  }
  while (absl::ConsumeSuffix(&host, "/")) {
  }
  if (place.scheme.empty() || host.empty() || host.find_first_of("/?#@ ") != host.npos)
    return absl::InvalidArgumentError("s3.endpoint: write a scheme and a host, such as https://minio.example:9000");
  // Clients leave the scheme's own port out of the header that is signed.
  absl::ConsumeSuffix(&host, place.scheme == "https://" ? ":443" : ":80");
  place.host = in_path ? std::string(host) : absl::StrCat(bucket, ".", host);
  place.path = in_path ? absl::StrCat("/", bucket, "/") : "/";
  return place;
}

absl::Status S3Store::Authorize() { return credentials_ == nullptr ? absl::OkStatus() : credentials_->Get().status(); }

HttpRequest S3Store::RequestFor(const std::string& method, const std::string& key,
                                const std::map<std::string, std::string>& query) const {
  std::string path = place_.path + PercentEncoded(key, true);
  HttpRequest request = {.method = method};
  request.url = absl::StrCat(place_.scheme, place_.host, path, query.empty() ? "" : "?", QueryString(query));
  request.follows_redirects = false;  // They lead to another region, for which the request is signed wrongly.
  if (credentials_ != nullptr)
    request.sign = [this, signing = SignedRequest{method, place_.host, std::move(path), query}] {
      return Sign(signing, credentials_->Latest(), place_.region, absl::Now());
    };
  return request;
}

HttpRequest S3Store::RequestForObject(const std::string& method, const std::string& name) const {
  HttpRequest request = RequestFor(method, prefix_ + name, {});
  request.name = absl::StrCat(root_, "/", name);
  return request;
}

std::string S3Store::identity() const {
  return absl::StrCat(place_.scheme, place_.host, place_.path,
                      prefix_.substr(0, prefix_.empty() ? 0 : prefix_.size() - 1));
}

absl::Status S3Store::ListPages(const std::string& prefix, std::map<std::string, std::string> query, uint64_t most,
                                const std::function<uint64_t(ListAnswer&)>& take) {
  query.insert(
      {{"encoding-type", "url"}, {"list-type", "2"}, {"prefix", PercentEncoded(absl::StrCat(prefix_, prefix), false)}});
  while (most > 0) {
    STOKER_RETURN_IF_ERROR(Authorize());
    query["max-keys"] = absl::StrCat(std::min(kPage, most));
    HttpRequest request = RequestFor("GET", "", query);
    request.name = root_;
    STOKER_ASSIGN_OR_RETURN(const HttpResponse answer, client_.Fetch(std::move(request)));
    auto page = ParseListAnswer(answer.body);
    if (!page.ok()) return NamedError(root_, page.status());
    most = take(*page);
    if (page->next.empty()) break;
    query["continuation-token"] = PercentEncoded(page->next, false);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ObjectInfo>> S3Store::List(const Listing& listing) {
  std::vector<ObjectInfo> objects;
  const auto take = [&](ListAnswer& page) {
    for (ObjectInfo& object : page.objects) {
      if (!absl::StartsWith(object.name, prefix_)) continue;
      object.name.erase(0, prefix_.size());
      // What ends with a slash stands for a folder.
      if (object.name.empty() || absl::EndsWith(object.name, "/") || HasDotComponent(object.name)) continue;
      objects.push_back(std::move(object));
    }
    if (listing.progress) listing.progress(objects.size());
    return listing.most - std::min<uint64_t>(objects.size(), listing.most);
  };
  STOKER_RETURN_IF_ERROR(ListPages(listing.prefix, {}, listing.most, take));
  std::sort(objects.begin(), objects.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return objects;
}

absl::StatusOr<std::vector<std::string>> S3Store::Folders() {
  std::vector<std::string> folders;
  const auto take = [&](ListAnswer& page) {
    for (std::string& folder : page.folders) {
      if (!absl::StartsWith(folder, prefix_) || !absl::EndsWith(folder, "/")) continue;
      folder = folder.substr(prefix_.size(), folder.size() - prefix_.size() - 1);
      if (!folder.empty() && !HasDotComponent(folder)) folders.push_back(std::move(folder));
    }
    return ~uint64_t{};
  };
  STOKER_RETURN_IF_ERROR(ListPages("", {{"delimiter", "%2F"}}, ~uint64_t{}, take));
  std::sort(folders.begin(), folders.end());
  return folders;
}

absl::StatusOr<std::vector<ObjectInfo>> S3Store::Describe(const std::vector<std::string>& names) {
  STOKER_RETURN_IF_ERROR(Authorize());
  return client_.Describe(names, [&](const std::string& name) { return RequestForObject("HEAD", name); });
}

void S3Store::Read(const Range& range, Done done) {
  if (const absl::Status authorized = Authorize(); !authorized.ok())
    return done(NamedError(absl::StrCat(root_, "/", range.object->name), authorized));
  client_.Read(RequestForObject("GET", range.object->name), range, std::move(done));
}

}  // namespace stoker
