#ifndef STOKER_COMMON_PIPELINE_SERVER_PIPELINE_H_
#define STOKER_COMMON_PIPELINE_SERVER_PIPELINE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/fields/field_set.h"
#include "common/fields/schema.h"
#include "common/fields/span_layout.h"
#include "common/ops/cost.h"
#include "common/ops/parameters.h"
#include "common/ops/sample_boxes.h"
#include "stoker/v1/data_service.pb.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// The server's part of a pipeline, joined to a dataset's fields. It says what a span carries, and how each field is
// made. Immutable, hence thread-safe.
class ServerPipeline {
 public:
  // One field of a span, and the source field that it comes from.
  struct Output {
    v1::Field field;
    uint64_t bytes = 0;  // bytes of one sample; where samples differ in size, the most, with the size itself
    int source = 0;      // index of the source field in the dataset's schema
    bool image = false;  // an image, which is decoded if it is encoded, and goes through the ops

    // A label map or a binary map, which goes through those ops that move the image; what is no image, no map and no
    // points is copied.
    bool map() const { return IsMap(field.kind()); }

    // Boxes or keypoints, which are moved by those ops too.
    bool points() const { return HasPoints(field.kind()); }

    // Whether samples differ in size.
    bool variable() const { return IsVariable(field.kind()); }

    bool sizes = false;  // the heights and widths of the images of the output before it

    // What the server makes of each number of a field that is no image and no map, before it moves them or sends them
    // as the field's dtype: `from` is the dtype that they are stored as.
    struct Cast {
      v1::Dtype from = v1::DTYPE_UNSPECIFIED;
      bool scale = false;  // whether 0…255 becomes 0…1
    };
    std::optional<Cast> cast;

    // What becomes of a field of audio files. Its kind is AUDIO, unless each sample has as many samples.
    struct Audio {
      SourceField::Audio stored;
      uint64_t max_bytes = 0;  // of a decoded file, before any op
      uint32_t rate = 0;       // that they are resampled to, in samples a second; 0: none
      int64_t samples = 0;     // of the stretch that is taken, after resampling; 0: all
      bool center = false;     // whether it is taken from the middle
      int crop_op = -1;        // index of the op that takes it
    };
    std::optional<Audio> audio;

    // The members below are for images and maps.
    int views = -1;                           // index in pipeline().views() of its ops; −1: pipeline().ops()
    uint32_t first_view = 0, view_count = 1;  // its views as DrawKey counts them; their images follow one another
    int first_op = 0;                         // ops before this one were applied to what is stored, or by a Mosaic
    std::optional<ImageSize> stored;          // the size of its image before that op, where that is not encoded
  };

  // Joins `pipeline`, which need not be valid, to a dataset's `schema`. InvalidArgument names the op or field that does
  // not fit. For a prepared dataset it also says what the dataset was prepared with.
  static absl::StatusOr<ServerPipeline> Create(const v1::Pipeline& pipeline, const SourceSchema& schema);

  // The fields of a span, in payload order.
  const std::vector<Output>& outputs() const { return outputs_; }

  // The source fields that they come from, and that own ops see: what need be read of a sample.
  FieldSet sources() const { return sources_; }

  // A field of boxes, and the fields with a row for each box. They are indexes of outputs, whose samples differ in
  // size.
  struct BoxRows {
    size_t boxes = 0;
    std::vector<size_t> followers;
  };

  // The boxes that RandomIoUCrop looks at, whose rows it leaves out; nothing where there is no such op.
  const std::optional<BoxRows>& cropped_boxes() const { return cropped_boxes_; }

  // A SanitizeBoundingBoxes: which rows of boxes stay.
  struct Sanitizer {
    BoxRows rows;
    double min_size = 0, min_area = 0;
  };
  const std::vector<Sanitizer>& sanitizers() const { return sanitizers_; }

  // A Mosaic: it makes one sample of several, on whose image the other ops then draw. Of outputs that are images, maps,
  // boxes or keypoints, first_op is 1, and `stored` the canvas.
  struct Joining {
    v1::Mosaic op;                // its defaults written out
    std::optional<BoxRows> rows;  // where boxes are sent: the first of them, and what goes with them
    SourceSchema schema;          // the dataset's, as the joined sample has it: images and maps are stored as pixels
  };
  const std::optional<Joining>& joining() const { return joining_; }

  // Where the fields lie in a span.
  const SpanLayout& layout() const { return layout_; }

  // The most bytes of one sample of all outputs.
  uint64_t sample_bytes() const { return sample_bytes_; }

  // Samples of a span: the power of two from 1 to kMaxSpanSamples whose usual output is nearest to 1 MiB; fewer where
  // the most that they can have is above kMostSpanBytes.
  uint32_t span_samples() const { return span_samples_; }

  const v1::Pipeline& pipeline() const { return pipeline_; }

  // The pipeline's limits and policies, with defaults filled in.
  uint64_t max_pixels() const;
  uint32_t max_scans() const;
  v1::DecodeWarnings decode_warnings() const;
  v1::JpegScaling jpeg_scaling() const;

  // Draws what the ops of view number `view` < output.view_count do to the image of `size` at `position`. A map's ops
  // are those of the image that it lies on. `boxes` are those of cropped_boxes(), null where there are none.
  // FailedPrecondition names an op that cannot take an image of this size.
  absl::StatusOr<std::vector<OpParameters>> Draw(const Output& output, uint32_t view, ImageSize size, uint64_t seed,
                                                 uint64_t epoch, uint64_t position,
                                                 const SampleBoxes* boxes = nullptr) const;

  // Draws where the stretch of audio begins that is taken of `all` samples. Requires output.audio with samples.
  int64_t DrawStart(const Output::Audio& audio, int64_t all, uint64_t seed, uint64_t epoch, uint64_t position) const;

  // What making one sample takes at most, if its encoded images have the size `encoded`: decoding each once, and all
  // ops of all views.
  Cost CostOf(ImageSize encoded) const;

  // The most passes of one view. Its plan takes memory for each.
  double MostPassesOfView() const;

  // Whether an own op sees fields of the sample: who draws ops gives it those.
  bool sees_fields() const { return sees_fields_; }

  static constexpr uint32_t kMaxSpanSamples = 4096;

  // Memory is reserved for the most that a span can have, so that few spans of many rare large samples would take all.
  static constexpr uint64_t kMostSpanBytes = uint64_t{8} << 20;

 private:
  ServerPipeline() = default;

  // The functions down to CheckDevice are parts of Create. Those that begin with Add decide what is sent of a source
  // field.
  absl::Status AddOutputsOf(int index, const SourceField& source);
  absl::Status AddViews(const SourceField& source, Output output);
  absl::Status AddImage(const SourceField& source, Output output);
  absl::Status AddNativeImage(Output output);
  absl::Status AddMap(const SourceField& source, Output output);
  absl::Status AddNumbers(const SourceField& source, Output output);
  absl::Status AddRows(const SourceField& source, Output output);
  absl::Status AddSparse(const SourceField& source, Output output);
  absl::Status AddAudio(const SourceField& source, Output output);
  absl::Status CheckNoViews(const SourceField& source) const;

  // Has the server convert an output's numbers where a ToDtype says so.
  absl::Status AddCast(const SourceField& source, Output& output) const;

  // Returns the size of an output after its ops, and sets output.stored. Nothing where it is not one size.
  std::optional<ImageSize> SizeAfterOps(const SourceField& source, Output& output) const;
  absl::Status DiffersInSize(const Output& output) const;
  absl::Status Add(Output output);
  absl::Status CheckPrepared(const SourceField& source, const Output& output) const;
  absl::Status CheckPreparedSettings(const SourceField& source) const;
  absl::Status CheckOutputs();
  absl::Status CheckMaps() const;
  absl::Status CheckPoints() const;
  absl::Status CheckOwnOps() const;

  // Adds the fields that own ops see to sources_.
  absl::Status AddSeen(const SourceSchema& schema);
  absl::Status AddBoxCrops();
  absl::Status AddBoxCrop(const v1::RandomIoUCrop& op);
  absl::Status AddSanitizers();
  absl::Status AddSanitizer(const v1::SanitizeBoundingBoxes& op);

  // Finds the boxes and what goes with them by the arguments of an op.
  absl::StatusOr<BoxRows> BoxRowsNamed(const std::string& field,
                                       const google::protobuf::RepeatedPtrField<std::string>& labels) const;
  absl::Status CheckHasCanvas() const;

  // Returns the output of that name whose samples differ in size. InvalidArgument where there is none.
  absl::StatusOr<size_t> RowsNamed(const std::string& key, const std::string& name) const;
  absl::Status CheckCasts() const;
  absl::Status CheckAudioOps() const;

  // What Create does for a pipeline that begins with a Mosaic: before the outputs are added, and after.
  void BeginJoining(const SourceSchema& schema);
  absl::Status FinishJoining();

  // Whether a Mosaic joins the rows of a field.
  bool JoinsRows(const SourceField& source) const;
  absl::Status CheckDevice(const std::vector<v1::Field>& fields) const;

  // What the ops of one view take.
  Cost CostOfView(const Output& output, ImageSize encoded) const;

  // What making one image or map of several takes, their decoding with it.
  Cost CostOfJoining(ImageSize encoded) const;

  // What moving all boxes or keypoints of a sample takes, and what drawing by boxes does.
  Cost CostOfPoints(const Output& output) const;
  Cost CostOfBoxCrops() const;

  // Returns the ops of an image that run on the server.
  std::span<const v1::Op* const> OpsOf(const Output& output) const;

  v1::Pipeline pipeline_;
  int ops_ = 0;  // number of leading ops that run on the server
  std::vector<Output> outputs_;
  FieldSet sources_;
  bool sees_fields_ = false;
  std::optional<BoxRows> cropped_boxes_;
  std::vector<v1::RandomIoUCrop> box_crops_;
  std::vector<Sanitizer> sanitizers_;
  std::optional<Joining> joining_;
  SpanLayout layout_;
  uint64_t sample_bytes_ = 0;
  uint32_t span_samples_ = 1;
};

// The pipeline that runs if none is given: DefaultPipeline where a dataset has an image or a map, else one without ops.
v1::Pipeline DefaultPipelineOf(const SourceSchema& schema);

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_SERVER_PIPELINE_H_
