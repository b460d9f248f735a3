#ifndef STOKER_SERVER_WORK_JOINER_H_
#define STOKER_SERVER_WORK_JOINER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "common/ops/mosaic.h"
#include "common/pipeline/server_pipeline.h"
#include "server/augment/augmenter.h"
#include "server/augment/sample_sizes.h"
#include "server/read/dataset.h"
#include "server/work/cached_decoder.h"
#include "server/work/sample_limits.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Makes one sample of several, as a Mosaic says. What comes out are a sample's bytes: the canvas as an image that is
// stored as pixels, its maps likewise, and the rows of all. So it goes the way of every sample from there. Fields that
// are neither on the image nor of its boxes are those of the sample in cell 0.
//
// One thread at a time. It borrows a worker's codecs and scratch, and holds a canvas for each image and map.
class Joiner {
 public:
  // All must outlive it.
  Joiner(CachedDecoder& decoder, Augmenter& augmenter) : decoder_(decoder), augmenter_(augmenter) {}

  // Tells what to make. Refers to its arguments. Requires that the pipeline has a Mosaic.
  struct Task {
    const ServerPipeline& pipeline;
    const SourceSchema& schema;  // the dataset's fields
    const MosaicDraw& draw;
    const SampleLimits& limits;
    const Interrupt& interrupt;
    const DecodedCache::Images* kept = nullptr;  // decoded images of the dataset; null where none are kept
  };

  // Puts `sample`, whose id is `id`, into cell number `cell`. Cells are filled in order, from 0; where the draw joins
  // nothing there is that one alone. DataLoss blames the sample's bytes: then another one may take the cell. Any other
  // error blames this machine.
  absl::Status Add(const Task& task, int cell, uint64_t id, const SampleBytes& sample, v1::StageTimes& times);

  // Returns the sample that the cells make, whose fields are those of ServerPipeline::Joining::schema. It is valid
  // until the next Add.
  const SampleBytes& joined() const { return joined_; }

  // Lets go of canvases that are large: room for pixels is needed for the next image.
  void Release();

 private:
  absl::Status AddPixels(const Task& task, int cell, uint64_t id, const ServerPipeline::Output& output,
                         std::span<const uint8_t> bytes, v1::StageTimes& times);

  // DataLoss where fields have no whole rows, or not one for each box. Then nothing of the sample may be added.
  absl::Status CheckRows(const Task& task, const SampleBytes& sample) const;
  void AddRows(const Task& task, int cell, const SampleBytes& sample);
  void AddPoints(const Task& task, int cell, const ServerPipeline::Output& output, std::span<const uint8_t> bytes);

  // Makes made_ of an image, or a map's pixels, of which it has the part that `plan` needs.
  absl::Status MakeCell(const Task& task, const ImagePlan& plan, const SourceImage& source);

  // Copies what was made into its cell of the field's canvas.
  absl::Status Place(const Task& task, int cell, const ServerPipeline::Output& output);

  CachedDecoder& decoder_;
  Augmenter& augmenter_;
  SampleBytes joined_;
  SampleSizes sizes_;                               // of the sample in hand
  std::vector<uint8_t> made_, dense_map_, values_;  // of a cell: its pixels, those of a map as it came, a map's values
  std::vector<float> points_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_JOINER_H_
