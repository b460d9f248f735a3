#include "server/read/stores/s3/signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/check.h"

namespace stoker {
namespace {

constexpr absl::string_view kNoBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string Sha256Hex(absl::string_view text) {
  std::string digest(32, 0);
  STOKER_CHECK(EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr,
                          EVP_sha256(), nullptr) == 1);
  return absl::BytesToHexString(digest);
}

std::string Hmac(const std::string& key, absl::string_view text) {
  std::string digest(32, 0);
  STOKER_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                    reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                    reinterpret_cast<unsigned char*>(digest.data()), nullptr) != nullptr);
  return digest;
}

}  // namespace

std::string QueryString(const std::map<std::string, std::string>& query) {
  return absl::StrJoin(query, "&", absl::PairFormatter("="));
}

std::vector<std::string> Sign(const SignedRequest& request, const S3Credentials& credentials, absl::string_view region,
                              absl::Time now) {
  const std::string time = absl::FormatTime("%Y%m%dT%H%M%SZ", now, absl::UTCTimeZone());
  const std::string day = time.substr(0, 8);
  std::map<std::string, std::string> headers = request.headers;
  headers["host"] = request.host;
  headers["x-amz-content-sha256"] = std::string(kNoBody);
  headers["x-amz-date"] = time;
  if (!credentials.token.empty()) headers["x-amz-security-token"] = credentials.token;

  std::string lines;
  for (const auto& [name, value] : headers) absl::StrAppend(&lines, name, ":", value, "\n");
  const std::string names =
      absl::StrJoin(headers, ";", [](std::string* out, const auto& header) { out->append(header.first); });
  const std::string canonical = absl::StrJoin(
      {request.method, request.path, QueryString(request.query), lines, names, std::string(kNoBody)}, "\n");
  const std::string scope = absl::StrCat(day, "/", region, "/s3/aws4_request");
  const std::string text = absl::StrCat("AWS4-HMAC-SHA256\n", time, "\n", scope, "\n", Sha256Hex(canonical));
  std::string key = Hmac(absl::StrCat("AWS4", credentials.secret), day);
  for (const absl::string_view part : {region, absl::string_view("s3"), absl::string_view("aws4_request")})
    key = Hmac(key, part);

  std::vector<std::string> sent = {
      absl::StrCat("Authorization: AWS4-HMAC-SHA256 Credential=", credentials.key_id, "/", scope,
                   ",SignedHeaders=", names, ",Signature=", absl::BytesToHexString(Hmac(key, text))),
      absl::StrCat("x-amz-content-sha256: ", kNoBody), "x-amz-date: " + time};
  if (!credentials.token.empty()) sent.push_back("x-amz-security-token: " + credentials.token);
  return sent;
}

}  // namespace stoker
