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
  // The new file's bytes. None: the source's file is copied as it is.
  std::optional<std::vector<uint8_t>> bytes;

  // Why the file could not be prepared. Empty if it was prepared or need not be.
  std::string problem;

  // True if a server of the original might decode the image at a reduced size, for the sake of ops that follow those
  // that were run, and so get slightly other pixels. Only a pipeline's files have it.
  bool might_be_scaled = false;
};

// Prepares files, one after the other. One thread at a time; codecs and scratch stay warm from file to file.
class FileMaker {
 public:
  virtual ~FileMaker() = default;

  // Makes the new file from the bytes of the source's. A file that is damaged, or that libjpeg cannot write, is no
  // error but a MadeFile with a problem. FailedPrecondition if the pipeline cannot take the image, ResourceExhausted if
  // there is no memory. Errors do not name the file: the caller does.
  virtual absl::StatusOr<MadeFile> Make(std::span<const uint8_t> file) = 0;
};

// Makes the new file as `maker` does. One that would be larger than stokerd reads has a problem instead.
absl::StatusOr<MadeFile> MakeFile(FileMaker& maker, std::span<const uint8_t> file);

// Returns the maker for the mode of `prepared`. Requires that a mode is set and valid.
std::unique_ptr<FileMaker> CreateFileMaker(const v1::Prepared& prepared);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_FILE_MAKER_H_
