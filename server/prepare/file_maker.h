#ifndef STOKER_SERVER_PREPARE_FILE_MAKER_H_
#define STOKER_SERVER_PREPARE_FILE_MAKER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "stoker/v1/prepared.pb.h"

namespace stoker {

// What becomes of one file.
struct MadeFile {
  std::optional<std::vector<uint8_t>> bytes;  // None: the source's, as they are.
  std::string problem;                        // Why it could not be prepared; empty if it was, or need not be.
  // Pipeline: served online, this image might be decoded at a reduced size for the sake of ops that follow those that
  // were run, to slightly other pixels.
  bool might_be_scaled = false;
};

// Prepares files, one after the other. One thread at a time; keeps codecs and scratch warm.
class FileMaker {
 public:
  virtual ~FileMaker() = default;

  // A file that is damaged, or that libjpeg cannot write, is a MadeFile with a problem. FailedPrecondition where the
  // pipeline cannot take the image, ResourceExhausted where there is no memory: neither names the file.
  virtual absl::StatusOr<MadeFile> Make(std::span<const uint8_t> file) = 0;
};

// The one for prepared.mode(), whose settings are valid.
std::unique_ptr<FileMaker> CreateFileMaker(const v1::Prepared& prepared);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_FILE_MAKER_H_
