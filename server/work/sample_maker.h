#ifndef STOKER_SERVER_WORK_SAMPLE_MAKER_H_
#define STOKER_SERVER_WORK_SAMPLE_MAKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "common/pipeline/server_pipeline.h"
#include "server/augment/audio/audio_maker.h"
#include "server/augment/augmenter.h"
#include "server/augment/image_plan.h"
#include "server/augment/sample_sizes.h"
#include "server/pack/span_writer.h"
#include "server/read/dataset.h"
#include "server/work/cached_decoder.h"
#include "server/work/joiner.h"
#include "server/work/sample_limits.h"
#include "server/work/stage_clock.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Makes one sample's outputs from the bytes that were read: draws parameters, decodes, augments and packs straight into
// the sample's slots in the span.
//
// All views of an image share its decoding: it is decoded once for each reduced size that they want. Label maps and
// binary maps go the way of images (see server/augment/map.h), by the draws of the image, and boxes and keypoints move
// by them too (see server/augment/points.h). Audio has ops of its own. One thread at a time.
// Codecs and scratch stay warm from sample to sample; a sample's bytes do not depend on them.
class SampleMaker {
 public:
  // A sample above `limits` counts as this server's failure (ResourceExhausted), not the sample's. Whether a sample is
  // too large is decided by the pipeline's own limit, which is equal on every server.
  explicit SampleMaker(const SampleLimits& limits) : limits_(limits), audio_(limits.max_pixels * 3) {}

  // Tells what to make of a sample's bytes. Refers to its arguments.
  struct Task {
    const ServerPipeline& pipeline;
    const SourceSchema& schema;                  // the dataset's fields
    uint64_t seed = 0, epoch = 0, position = 0;  // what the random draws depend on
    const Interrupt& interrupt;                  // ends making it early, with its status
    const DecodedCache::Images* kept = nullptr;  // decoded images of the dataset; null where none are kept
    uint64_t sample = 0;                         // the sample's id, which images are kept by
  };

  // A sample whose images wait for own ops. Refers to the batch that they wait in.
  struct Waiting {
    // An image of the sample: the plan that stopped before `step`, and its number in the batch.
    struct Image {
      ImagePlan plan;
      size_t step = 0, number = 0;
      std::span<uint8_t> slot;
    };
    std::vector<Image> images;
    SampleSizes sizes;
    std::vector<std::vector<uint8_t>> rows;  // the bytes of those outputs whose samples differ in size
  };

  // Makes every output of `sample` into the slots for offset `index` of the span, and adds the nanoseconds of each
  // stage to `times`. DataLoss blames the sample's bytes, FailedPrecondition the pipeline, any other error this
  // machine. After an error the slots hold garbage.
  absl::Status Make(const Task& task, const SampleBytes& sample, SpanWriter& writer, uint32_t index,
                    v1::StageTimes& times);

  // They do what Make does, in two parts. Begin makes each image up to the first own op that `batch` has room for, and
  // keeps what it needs of `sample`. Finish makes the rest, once the batch was run. Begin may be called for other
  // samples in between; Finish is called in the samples' order.
  absl::Status Begin(const Task& task, const SampleBytes& sample, SpanWriter& writer, uint32_t index,
                     v1::StageTimes& times, OwnBatch& batch, Waiting& waiting);
  absl::Status Finish(const Task& task, const OwnBatch& batch, Waiting& waiting, SpanWriter& writer, uint32_t index,
                      v1::StageTimes& times);

  const SampleLimits& limits() const { return limits_; }

  // Makes one sample of several, with this maker's codecs. What it makes is then made as any other.
  Joiner& joiner() { return joiner_; }

 private:
  // One image to be made: how, and into which bytes. Few plans are kept until their turn comes, however many views a
  // sample has: the others are made again from the same draws.
  struct View {
    std::optional<ImagePlan> plan;
    DecodeTarget target;  // the plan's
    const ServerPipeline::Output& output;
    uint32_t number = 0;  // among the output's views
    std::span<uint8_t> slot;
    bool made = false;
  };

  // A sample's place in a span: offset `index` of what `writer` lays out.
  struct Place {
    SpanWriter& writer;
    uint32_t index;
  };

  // Makes those outputs that are images, of one size or of their own, maps, or numbers or audio of one shape.
  absl::Status MakeFixed(const Task& task, const SampleBytes& sample, const Place& place, v1::StageTimes& times);

  // Makes those outputs whose samples differ in size. `bytes_of` gives the bytes of one by its number in the layout.
  template <typename BytesOf>
  absl::Status MakeOfManySizes(const Task& task, BytesOf bytes_of, SpanWriter& writer, uint32_t index,
                               v1::StageTimes& times);

  // Makes output number `field`, which is audio, of the file that `bytes` are.
  absl::Status MakeAudio(const Task& task, size_t field, std::span<const uint8_t> bytes, SpanWriter& writer,
                         uint32_t index, v1::StageTimes& times);

  // Makes output number `field`, whose samples differ in size, of its bytes. Boxes and keypoints are moved with the
  // sample's image, which must be made before.
  absl::Status MakeRows(const Task& task, size_t field, std::span<const uint8_t> bytes, SpanWriter& writer,
                        uint32_t index);

  // Makes output number `field`, whose samples are places of a sparse one.
  absl::Status MakePlaces(const Task& task, size_t field, std::span<const uint8_t> bytes, SpanWriter& writer,
                          uint32_t index);

  // Moves the rows of `output`, which lie on an image of `size`.
  absl::Status Move(const Task& task, const ServerPipeline::Output& output, ImageSize size, std::span<uint8_t> rows);

  // Sets boxes_ to those that RandomIoUCrop looks at: it must know them before anything is made.
  void LoadBoxes(const ServerPipeline& pipeline, std::span<const uint8_t> bytes);

  // Draws what the ops do to view number `view` of `output`. Where that depends on boxes it is drawn once a sample.
  absl::StatusOr<std::vector<OpParameters>> Draw(const Task& task, const ServerPipeline::Output& output, uint32_t view,
                                                 ImageSize size);

  // Leaves out the boxes that RandomIoUCrop does, which lie on an image of `size`.
  absl::Status LeaveOutBoxes(const Task& task, ImageSize size, SpanWriter& writer, uint32_t index);

  // Leaves all rows but `kept`, which ascend, out of the sample that was made last.
  absl::Status KeepRows(const ServerPipeline& pipeline, const ServerPipeline::BoxRows& of,
                        std::span<const uint32_t> kept, SpanWriter& writer, uint32_t index);

  // Sets points_ to rows of float32, which need not be aligned.
  void LoadPoints(std::span<const uint8_t> rows);

  // Leaves out the rows that a SanitizeBoundingBoxes drops from the sample that was made last.
  absl::Status Sanitize(const ServerPipeline& pipeline, const ServerPipeline::Sanitizer& op, SpanWriter& writer,
                        uint32_t index);

  // Makes all images and maps that come from one source field.
  // `first` is the first output that is made of it, and `bytes` are its bytes.
  absl::Status MakeImages(const Task& task, const ServerPipeline::Output& first, std::span<const uint8_t> bytes,
                          const Place& place, v1::StageTimes& times);

  // Sets views_ to the views of the source field `source`, whose image has `size`.
  absl::Status Plan(const Task& task, int source, ImageSize size, const Place& place);

  // Returns where view number `view` of output number `output` goes, which has `size`. An image of native size gets
  // room, and its height and width are written. DataLoss where it has too many pixels.
  static absl::StatusOr<std::span<uint8_t>> RoomOf(const ServerPipeline& pipeline, size_t output, uint32_t view,
                                                   ImageSize size, const Place& place);

  // Gives own ops the fields that they see, of the sample in hand. DataLoss where one is none.
  absl::Status GiveFields(const Task& task, std::vector<OpParameters>& ops);

  // Plans view number `number` of `output`. A plan is the same each time.
  absl::StatusOr<ImagePlan> PlanView(const Task& task, const ServerPipeline::Output& output, uint32_t number,
                                     ImageSize size);

  // Makes all of views_ from the file that was opened last. It is decoded once for each size that they want.
  absl::Status MakeFromFile(const Task& task, ImageSize size, v1::StageTimes& times);

  // Returns what to decode next: the smallest size that any unmade view wants, and the region that covers what all
  // unmade views need. A file that cannot be decoded at a reduced size thus serves them all at once. None if all are
  // made.
  std::optional<DecodeTarget> NextTarget() const;

  // Makes those unmade views of an image of `size` that want it as large as `image`.
  absl::Status MakeFrom(const Task& task, ImageSize size, const SourceImage& image);

  // Books what `clock` measured since it was read last as augmenting, but for the time in own ops.
  void BookAugmenting(StageClock& clock, v1::StageTimes& times);

  // Makes one view, which has its plan, into its slot.
  absl::Status MakeView(const Task& task, View& view, const SourceImage& image);

  // Makes one view of an image up to an own op that waits, if it has one.
  absl::Status BeginView(const Task& task, View& view, const SourceImage& image);

  const SampleLimits limits_;
  CachedDecoder decoder_;
  Augmenter augmenter_;
  Joiner joiner_{decoder_, augmenter_};
  SampleSizes sizes_;                          // of the sample in hand
  std::vector<uint8_t> dense_map_, made_map_;  // a map's pixels: as they came, and as the ops left them
  const SampleBytes* sample_ = nullptr;        // in hand, while MakeFixed runs
  std::map<size_t, OwnField> seen_;            // what own ops see of it, by the fields' places in the schema
  AudioMaker audio_;
  std::vector<View> views_;     // views of the image in hand
  std::vector<float> points_;   // of the boxes or keypoints in hand
  ImageSize canvas_;            // of the image that they lie on, after the ops
  OwnBatch* batch_ = nullptr;   // while Begin runs: what images of the sample in hand wait in,
  Waiting* waiting_ = nullptr;  // and which of them do

  // What RandomIoUCrop looks at, of the sample in hand, and what the ops drew by it. Empty without such an op.
  std::vector<float> boxes_;
  std::optional<std::vector<OpParameters>> drawn_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_SAMPLE_MAKER_H_
