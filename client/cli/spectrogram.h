#ifndef STOKER_CLIENT_CLI_SPECTROGRAM_H_
#define STOKER_CLIENT_CLI_SPECTROGRAM_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "client/device/device.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Draws audio, −1 to 1, as a spectrogram of height × width pixels of three equal bytes: time goes to the right and
// frequency up, from 0 to half of the sample rate. White is 0 dB, a sine of amplitude 1, and black −80 dB and below.
std::vector<uint8_t> Spectrogram(std::span<const float> samples, int64_t height, int64_t width);

// Pictures of all samples of one field: uint8 of N × height × width × 3.
struct FieldPictures {
  std::vector<uint8_t> pixels;
  Tensor tensor;  // refers to `pixels`
};

// Whether a field is audio: of that kind, or an array with a sample rate.
bool IsAudio(const v1::Field& field);

// Draws the first `count` samples of field number `field`, which is audio, the mean of its channels. `fields` and
// `sent` are as CaptionsOf takes them.
FieldPictures SpectrogramsOf(const std::vector<Tensor>& fields, int64_t count,
                             const google::protobuf::RepeatedPtrField<v1::Field>& sent, int field, int64_t height,
                             int64_t width);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_SPECTROGRAM_H_
