#ifndef STOKER_SERVER_WORK_SAMPLE_MAKER_H_
#define STOKER_SERVER_WORK_SAMPLE_MAKER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "common/pipeline/server_pipeline.h"
#include "server/augment/augmenter.h"
#include "server/augment/image_plan.h"
#include "server/decode/decoder.h"
#include "server/pack/span_writer.h"
#include "server/read/dataset.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Makes one sample's outputs from the bytes that were read: draw, decode, augment and pack, straight into its slots.
//
// An image is decoded once for all of its views, at each size that they want it. One thread at a time; keeps codecs
// and scratch warm from sample to sample, none of which what a sample becomes depends on.
class SampleMaker {
 public:
  // An image above `max_pixels` is this server's failure, not the sample's: the pipeline's own limit, equal on
  // every server, decides that.
  explicit SampleMaker(uint64_t max_pixels) : max_pixels_(max_pixels) {}

  // Which sample, beside its bytes. Refers to its arguments.
  struct Task {
    const ServerPipeline& pipeline;
    const SourceSchema& schema;  // of `sample`
    uint64_t seed = 0, epoch = 0, position = 0;
  };

  // Makes every output of `sample` into the slots of `index`, and adds what it took to `times`. DataLoss blames the
  // sample's bytes, FailedPrecondition the pipeline, anything else this machine; the slots then hold garbage.
  absl::Status Make(const Task& task, const SampleBytes& sample, const SpanWriter& writer, uint32_t index,
                    v1::StageTimes& times);

 private:
  // One image to be made, and where to.
  struct View {
    ImagePlan plan;
    std::span<uint8_t> slot;
    bool made = false;
  };

  // The place of a sample in a span.
  struct Place {
    const SpanWriter& writer;
    uint32_t index;
  };

  // Makes all images of the source field `source`.
  absl::Status MakeImages(const Task& task, int source, std::span<const uint8_t> bytes, const Place& place,
                          v1::StageTimes& times);

  // Sets views_ to all those of `source`, whose image has `size`.
  absl::Status Plan(const Task& task, int source, ImageSize size, const Place& place);

  // Makes all of views_ from the file that was opened last, decoded as often as they want it at different sizes.
  absl::Status MakeFromFile(v1::StageTimes& times);

  // What to decode for those of views_ that are not made: the least size that any wants, and of that what they all
  // need, for a file that cannot be reduced then serves them all. None if all are made.
  std::optional<DecodeTarget> NextTarget() const;

  // Makes those of views_ that want `image`.
  void MakeFrom(const SourceImage& image);

  const uint64_t max_pixels_;
  Decoder decoder_;
  DecodedImage image_;
  Augmenter augmenter_;
  std::vector<View> views_;  // Of the image in hand.
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_SAMPLE_MAKER_H_
