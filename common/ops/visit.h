#ifndef STOKER_COMMON_OPS_VISIT_H_
#define STOKER_COMMON_OPS_VISIT_H_

#include "common/check.h"
#include "common/ops/affine.h"
#include "common/ops/audio.h"
#include "common/ops/aug_mix.h"
#include "common/ops/boxes.h"
#include "common/ops/color.h"
#include "common/ops/degrade.h"
#include "common/ops/elastic.h"
#include "common/ops/erase.h"
#include "common/ops/filter.h"
#include "common/ops/iou_crop.h"
#include "common/ops/mix.h"
#include "common/ops/mosaic.h"
#include "common/ops/nested.h"
#include "common/ops/own.h"
#include "common/ops/perspective.h"
#include "common/ops/policies.h"
#include "common/ops/shape.h"
#include "common/ops/tensor.h"
#include "common/ops/zoom.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Calls `f` with the op's own message, of which there is a Description. Requires that an op is set. The list of all
// ops: a message that is added to v1::Op does not compile until it stands here.
template <typename F>
auto VisitOp(const v1::Op& op, F f) {
  switch (op.op_case()) {
    case v1::Op::kRandomResizedCrop: return f(op.random_resized_crop());
    case v1::Op::kResize: return f(op.resize());
    case v1::Op::kScaleJitter: return f(op.scale_jitter());
    case v1::Op::kRandomShortestSize: return f(op.random_shortest_size());
    case v1::Op::kCenterCrop: return f(op.center_crop());
    case v1::Op::kRandomCrop: return f(op.random_crop());
    case v1::Op::kPad: return f(op.pad());
    case v1::Op::kRandomZoomOut: return f(op.random_zoom_out());
    case v1::Op::kRandomHorizontalFlip: return f(op.random_horizontal_flip());
    case v1::Op::kRandomVerticalFlip: return f(op.random_vertical_flip());
    case v1::Op::kColorJitter: return f(op.color_jitter());
    case v1::Op::kAdjustBrightness: return f(op.adjust_brightness());
    case v1::Op::kAdjustContrast: return f(op.adjust_contrast());
    case v1::Op::kAdjustSaturation: return f(op.adjust_saturation());
    case v1::Op::kAdjustHue: return f(op.adjust_hue());
    case v1::Op::kGrayscale: return f(op.grayscale());
    case v1::Op::kRandomGrayscale: return f(op.random_grayscale());
    case v1::Op::kConvertColor: return f(op.convert_color());
    case v1::Op::kRandomPosterize: return f(op.random_posterize());
    case v1::Op::kRandomSolarize: return f(op.random_solarize());
    case v1::Op::kRandomInvert: return f(op.random_invert());
    case v1::Op::kRandomAutocontrast: return f(op.random_autocontrast());
    case v1::Op::kRandomEqualize: return f(op.random_equalize());
    case v1::Op::kRandomRotation: return f(op.random_rotation());
    case v1::Op::kRandomAffine: return f(op.random_affine());
    case v1::Op::kGaussianBlur: return f(op.gaussian_blur());
    case v1::Op::kRandomAdjustSharpness: return f(op.random_adjust_sharpness());
    case v1::Op::kRandomErasing: return f(op.random_erasing());
    case v1::Op::kRandomMask: return f(op.random_mask());
    case v1::Op::kRandAugment: return f(op.rand_augment());
    case v1::Op::kTrivialAugmentWide: return f(op.trivial_augment_wide());
    case v1::Op::kRandomApply: return f(op.random_apply());
    case v1::Op::kRandomChoice: return f(op.random_choice());
    case v1::Op::kMosaic: return f(op.mosaic());
    case v1::Op::kSanitizeBoundingBoxes: return f(op.sanitize_bounding_boxes());
    case v1::Op::kToDtype: return f(op.to_dtype());
    case v1::Op::kNormalize: return f(op.normalize());
    case v1::Op::kToMemoryFormat: return f(op.to_memory_format());
    case v1::Op::kOneHot: return f(op.one_hot());
    case v1::Op::kUnpackBits: return f(op.unpack_bits());
    case v1::Op::kMixUp: return f(op.mix_up());
    case v1::Op::kCutMix: return f(op.cut_mix());
    case v1::Op::kOwnOp: return f(op.own_op());
    case v1::Op::kAutoAugment: return f(op.auto_augment());
    case v1::Op::kGaussianNoise: return f(op.gaussian_noise());
    case v1::Op::kJpeg: return f(op.jpeg());
    case v1::Op::kRandomPerspective: return f(op.random_perspective());
    case v1::Op::kElasticTransform: return f(op.elastic_transform());
    case v1::Op::kAugMix: return f(op.aug_mix());
    case v1::Op::kResample: return f(op.resample());
    case v1::Op::kRandomAudioCrop: return f(op.random_audio_crop());
    case v1::Op::kRandomIouCrop: return f(op.random_iou_crop());
    case v1::Op::kLabelSmoothing: return f(op.label_smoothing());
    case v1::Op::kToPadded: return f(op.to_padded());
    case v1::Op::kToDense: return f(op.to_dense());
    case v1::Op::OP_NOT_SET: break;
  }
  STOKER_CHECK(false);
  return f(op.resize());  // Never reached.
}

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_VISIT_H_
