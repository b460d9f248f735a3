#ifndef STOKER_COMMON_CONFIG_NEAREST_WORD_H_
#define STOKER_COMMON_CONFIG_NEAREST_WORD_H_

#include <string>
#include <vector>

namespace stoker {

// Returns the one of `words` that somebody who wrote `typed` most likely meant, or an empty string if none is near. A
// word is near if at most a third of the letters were added, left out, changed or swapped with their neighbours. Case,
// '_' and '-' do not count. Of several equally near words the first is returned. No word is near a `typed` of more than
// 64 bytes.
std::string NearestWord(const std::string& typed, const std::vector<std::string>& words);

// Returns "; did you mean 'WORD'?" for an error's end, or an empty string if no word is near.
std::string DidYouMean(const std::string& typed, const std::vector<std::string>& words);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_NEAREST_WORD_H_
