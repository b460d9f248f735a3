#include "common/config/nearest_word.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

constexpr size_t kMaxTypedBytes = 64;

// Takes away what only writing habits tell apart: upper case, '_' and '-'.
std::string Letters(const std::string& word) {
  std::string letters = absl::AsciiStrToLower(word);
  std::erase_if(letters, [](char c) { return c == '_' || c == '-'; });
  return letters;
}

// Returns the optimal string alignment distance: Levenshtein's, with a swap of neighbours as one edit.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string NearestWord(const std::string& typed, const std::vector<std::string>& words) {
  if (typed.size() > kMaxTypedBytes) return "";
  const std::string letters = Letters(typed);
  // `nearest` has a word's distance in letters and then, to choose among words of equal letters, as it is written.
  auto nearest = std::make_tuple(std::max<size_t>(letters.size() / 3, 1) + 1, size_t{0}, std::string());
  for (const std::string& word : words) {
    const size_t distance = EditDistance(letters, Letters(word));
    if (distance > std::get<0>(nearest) || distance == std::max(letters.size(), Letters(word).size())) continue;
    const size_t as_written = EditDistance(typed, word);
    if (std::tie(distance, as_written) < std::tie(std::get<0>(nearest), std::get<1>(nearest)))
      nearest = {distance, as_written, word};
  }
  return std::get<2>(nearest);
}

std::string DidYouMean(const std::string& typed, const std::vector<std::string>& words) {
  const std::string word = NearestWord(typed, words);
  return word.empty() ? "" : absl::StrCat("; did you mean '", word, "'?");
}

}  // namespace stoker
