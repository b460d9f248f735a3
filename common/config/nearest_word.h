#ifndef STOKER_COMMON_CONFIG_NEAREST_WORD_H_
#define STOKER_COMMON_CONFIG_NEAREST_WORD_H_

#include <string>
#include <vector>

namespace stoker {

// The one of `words` that somebody who wrote `typed` most likely meant, or nothing where none is near: at most a
// third of its letters added, left out, changed or swapped with their neighbours. Case, '_' and '-' are free. The
// first of several equally near. Nothing for a `typed` of over 64 bytes.
std::string NearestWord(const std::string& typed, const std::vector<std::string>& words);

// "; did you mean 'WORD'?", or nothing where no word is near.
std::string DidYouMean(const std::string& typed, const std::vector<std::string>& words);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_NEAREST_WORD_H_
