#ifndef STOKER_CLIENT_CLI_COMPARE_H_
#define STOKER_CLIENT_CLI_COMPARE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/contact_sheet.h"
#include "client/loader/loader.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// What `stoker preview --compare` shows: the same samples with a pipeline's ops on the server, and with as many of them
// as can be on the device.

// Returns the ops of `pipeline` that servers can run, all placed there, and the image as its only field.
// InvalidArgument where it has views, or no such op.
absl::StatusOr<v1::Pipeline> OnServers(const v1::Pipeline& pipeline);

// Returns `on_servers` with its ops from number `first` on placed on the device; nothing where one of these cannot be
// there.
std::optional<v1::Pipeline> WithMoved(const v1::Pipeline& on_servers, int first);

// By how many levels two images differ.
struct LevelDifference {
  int greatest = 0;
  double mean = 0;
};

// Requires as many bytes of either.
LevelDifference LevelDifferenceOf(std::span<const uint8_t> one, std::span<const uint8_t> other);

// What the comparison found.
struct Comparison {
  Picture sheet;                             // each image as the server makes it, and as the device does
  std::vector<LevelDifference> differences;  // of each sample
  std::vector<std::string> moved;            // the names of the ops that ran on the device, in their order
};

// Reads the first `options.batch_size` samples twice. `pipeline` is what a server describes, and options.pipeline is
// left alone. FailedPrecondition says why none of its ops can be moved; other errors are those of Loader.
absl::StatusOr<Comparison> Compare(const LoaderOptions& options, const v1::Pipeline& pipeline);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_COMPARE_H_
