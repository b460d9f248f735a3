#ifndef STOKER_TESTS_UNIT_SERVER_DECODE_AUDIO_CLIPS_H_
#define STOKER_TESTS_UNIT_SERVER_DECODE_AUDIO_CLIPS_H_

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace stoker {

// Returns a file of tests/fuzz/corpus/audio, which make_audio_corpus.py describes.
inline std::vector<uint8_t> Clip(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(STOKER_SOURCE_DIR) / "tests/fuzz/corpus/audio" / name;
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_FALSE(bytes.empty()) << path;
  return bytes;
}

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_DECODE_AUDIO_CLIPS_H_
