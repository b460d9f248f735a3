#include "server/read/stores/s3/list_answer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/read/stores/curl/http_client.h"

namespace stoker {
namespace {

absl::Status Wrong(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat("the answer to ListObjectsV2 is none: ", what));
}

absl::string_view First(absl::string_view xml, absl::string_view name) {
  size_t at = 0;
  absl::string_view inside;
  return NextElement(xml, name, at, inside) ? inside : "";
}

// Resolves the form that encoding-type=url asks for, which has '+' for a space, as forms have.
std::string KeyOf(absl::string_view text) {
  std::string key = WithoutEntities(text);
  std::replace(key.begin(), key.end(), '+', ' ');
  return PercentDecoded(key);
}

}  // namespace

bool NextElement(absl::string_view xml, absl::string_view name, size_t& at, absl::string_view& inside) {
  const std::string open = absl::StrCat("<", name, ">"), close = absl::StrCat("</", name, ">");
  const size_t begin = xml.find(open, at);
  if (begin == xml.npos) return false;
  const size_t end = xml.find(close, begin + open.size());
  if (end == xml.npos) return false;
  inside = xml.substr(begin + open.size(), end - begin - open.size());
  at = end + close.size();
  return true;
}

std::string WithoutEntities(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&lt;", "<"},
                                    {"&gt;", ">"},
                                    {"&quot;", "\""},
                                    {"&#34;", "\""},
                                    {"&apos;", "'"},
                                    {"&#39;", "'"},
                                    {"&amp;", "&"}});
}

absl::StatusOr<ListAnswer> ParseListAnswer(absl::string_view xml) {
  if (!absl::StrContains(xml, "<ListBucketResult")) return Wrong("it has no ListBucketResult");
  // What is left of an answer whose length is wrong would be a dataset that lacks objects.
  if (!absl::StrContains(xml, "</ListBucketResult>")) return Wrong("it ends early");
  ListAnswer answer;
  size_t at = 0;
  for (absl::string_view entry; NextElement(xml, "Contents", at, entry);) {
    ObjectInfo object = {.name = KeyOf(First(entry, "Key")), .version = WithoutEntities(First(entry, "ETag"))};
    // Some servers leave the quotes out here, and none of them in headers.
    if (!object.version.empty() && !absl::StrContains(object.version, '"'))
      object.version = absl::StrCat("\"", object.version, "\"");
    if (object.name.empty() || object.name.find('\0') != std::string::npos) return Wrong("an object has no key");
    if (!absl::SimpleAtoi(First(entry, "Size"), &object.size)) return Wrong("an object has no size");
    answer.objects.push_back(std::move(object));
  }
  at = 0;
  for (absl::string_view entry; NextElement(xml, "CommonPrefixes", at, entry);)
    answer.folders.push_back(KeyOf(First(entry, "Prefix")));
  const bool more = First(xml, "IsTruncated") == "true";
  if (more) answer.next = WithoutEntities(First(xml, "NextContinuationToken"));
  if (more && answer.next.empty()) return Wrong("it is cut short without saying how to go on");
  return answer;
}

}  // namespace stoker
