#include "server/read/stores/http/http_store.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"
#include "server/read/stores/local/file.h"

namespace stoker {
namespace {

constexpr uint64_t kMostHeaderBytes = 64 << 10;

constexpr char kHowToName[] =
    "give braces (shard-{0000..0146}.tar), a list of paths, a format whose index names them (mds), an index that "
    "`stokerd index` writes (stoker.index in the folder, whose URL ends with a slash), or for class folders a text "
    "file beside them with the path of each image, as image_folder: {path: https://HOST/train/files.txt}";

// Reads a file with one header a line.
absl::StatusOr<std::vector<std::string>> HeadersOf(const std::string& path) {
  const auto error = [&](absl::string_view what) {
    return NamedError(path, absl::InvalidArgumentError(absl::StrCat("headers_file: ", what)));
  };
  const auto file = OpenAt(AT_FDCWD, path);
  if (!file.ok()) return error(file.status().message());
  std::string text(kMostHeaderBytes, 0);
  const auto bytes = ReadUpTo(file->number(), text.size(), text.data());
  if (!bytes.ok()) return error(bytes.status().message());
  if (*bytes == text.size()) return error("is too long");
  text.resize(*bytes);
  std::vector<std::string> headers;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    const bool whole = colon != line.npos && colon > 0 && std::none_of(line.begin(), line.end(), [](char c) {
                         return absl::ascii_iscntrl(static_cast<unsigned char>(c));
                       });
    if (!whole) return error(absl::StrCat("line ", number, " is no header, such as `Authorization: Bearer ...`"));
    headers.emplace_back(line);
  }
  return headers;
}

// Percent-encodes what may not stand in a URL, and leaves the rest as it was written.
std::string Repaired(const std::string& url) {
  std::string repaired;
  for (const char c : url) {
    const bool plain = absl::ascii_isgraph(static_cast<unsigned char>(c)) && !absl::StrContains("\"<>\\^`{|}", c);
    repaired += plain ? std::string(1, c) : PercentEncoded(std::string(1, c), true);
  }
  return repaired;
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpStore>> HttpStore::Open(const std::string& root, const v1::HttpStore& config) {
  return Open(root, config, HttpLimits());
}

absl::StatusOr<std::unique_ptr<HttpStore>> HttpStore::Open(const std::string& root, const v1::HttpStore& config,
                                                           HttpLimits limits) {
  const std::string::size_type host = root.find("://");
  if (host == root.npos || host + 3 == root.size()) return absl::InvalidArgumentError("the URL has no host");
  const std::string authority = root.substr(host + 3, root.find('/', host + 3) - host - 3);
  if (absl::StrContains(authority, '@'))
    return absl::InvalidArgumentError(
        "the URL has a user or password: write `Authorization: Basic ...` to a file and name it in "
        "`http: {headers_file: ...}`");
  if (root.find_first_of("?#") != root.npos)
    return absl::InvalidArgumentError(
        "the URL has a query or fragment, which cannot be kept from logs: serve it without");
  std::vector<std::string> headers;
  if (!config.headers_file().empty()) {
    STOKER_ASSIGN_OR_RETURN(headers, HeadersOf(config.headers_file()));
  }
  if (!config.ca_file().empty()) limits.ca_file = config.ca_file();
  if (config.requests() > 0) limits.requests = static_cast<int>(std::min(config.requests(), 4096u));
  std::string url = Repaired(root);
  while (absl::EndsWith(url, "/")) url.pop_back();
  return std::unique_ptr<HttpStore>(new HttpStore(std::move(url), std::move(headers), WithAuthorities(limits)));
}

HttpRequest HttpStore::RequestFor(const std::string& name) const {
  HttpRequest request;
  request.url = absl::StrCat(root_, "/", PercentEncoded(name, true));
  request.name = absl::StrCat(root_, "/", name);
  request.secret_headers = headers_;
  return request;
}

absl::StatusOr<std::vector<ObjectInfo>> HttpStore::List(const Listing&) {
  return absl::UnimplementedError(absl::StrCat(root_, ": HTTP cannot list a folder: name its files: ", kHowToName));
}

absl::StatusOr<std::vector<ObjectInfo>> HttpStore::Describe(const std::vector<std::string>& names) {
  auto objects = client_.Describe(names, [&](const std::string& name) {
    HttpRequest request = RequestFor(name);
    request.method = "HEAD";
    return request;
  });
  if (!absl::IsNotFound(objects.status())) return objects;
  return absl::NotFoundError(
      absl::StrCat(objects.status().message(), "; where it is a folder, name its files: ", kHowToName));
}

void HttpStore::Read(const Range& range, Done done) {
  client_.Read(RequestFor(range.object->name), range, std::move(done));
}

}  // namespace stoker
