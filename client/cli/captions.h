#ifndef STOKER_CLIENT_CLI_CAPTIONS_H_
#define STOKER_CLIENT_CLI_CAPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/device/device.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// What a field of a sample says in words: a text as it is, numbers one after another, bytes by their number.
struct Caption {
  std::string field, value;
  bool is_text = false;
};

// Returns the captions of the first `count` samples of a batch, those of a sample in the order of its fields. `fields`
// are as servers send them, on the CPU, offsets of those that differ in size behind them (see Tensor), and `sent` what
// a server describes them by. What is drawn in another way has none: images, views, maps, boxes, keypoints and audio.
// Only the beginning of long texts and of many numbers is told. What a server sent is not safe to print: see Printable.
std::vector<std::vector<Caption>> CaptionsOf(const std::vector<Tensor>& fields, int64_t count,
                                             const google::protobuf::RepeatedPtrField<v1::Field>& sent);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_CAPTIONS_H_
