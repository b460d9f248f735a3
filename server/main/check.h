#ifndef STOKER_SERVER_MAIN_CHECK_H_
#define STOKER_SERVER_MAIN_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// What is looked at beside the samples that are spread over a dataset.
struct ContentCheck {
  // Every sample is read, and compared with the hash that the index has of it, if it has one.
  bool read_all = false;

  // Files with a line for each sample: its SHA-256 in hexadecimal (SampleHashes::digest), two spaces, the dataset's
  // name, a slash and the sample's name. The first is written, the second, of another machine, compared. Empty: none.
  std::string save, against;
};

// Checks a configuration as far as serving it would: every key and every dataset. Of each dataset it reads and decodes
// some samples spread over it. It reports to stdout and returns the first thing that is wrong.
absl::Status Check(const v1::ServerConfig& config, const ContentCheck& content);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_CHECK_H_
