// Which arguments ops take, and which forms of them are the same op.

#include <limits>
#include <set>

#include "common/pipeline/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

TEST(OpArgumentsTest, RefusesArgumentsByName) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "no op, or one that this build does not know"},
      {"random_resized_crop {}", "RandomResizedCrop.size: give one number or height and width; found 0 numbers"},
      {"random_resized_crop { size: -3 }", "RandomResizedCrop.size: -3 is not between 1 and 16384"},
      {"random_resized_crop { size: 8 scale: 0.5 }", "RandomResizedCrop.scale: give two numbers, from and to; found 1"},
      {"random_resized_crop { size: 8 scale: 0.5 scale: 2 }",
       "RandomResizedCrop.scale: [0.5, 2] is not an ascending range above 0 and up to 1"},
      {"resize { size: 8 size: 8 max_size: 9 }", "Resize.max_size: needs a size of one number, the shorter side"},
      {"resize { size: 8 max_size: 8 }", "Resize.max_size: 8 is not above size 8 and up to 16384"},
      {"resize { size: 8 multiple: -1 }", "Resize.multiple: -1 is not between 0 and 16384"},
      {"resize { size: 8 max_size: 9 multiple: 14 }", "Resize.multiple: 14 is above max_size, 9"},
      {"random_crop { size: 8 padding: [1, 2, 3] }", "RandomCrop.padding: give 1, 2 or 4 numbers; found 3"},
      {"random_crop { size: 8 fill: 256 }", "RandomCrop.fill: 256 is not between 0 and 255"},
      {"random_horizontal_flip { p: 1.5 }", "RandomHorizontalFlip.p: 1.5 is not a probability"},
      {"to_dtype { dtype: DTYPE_INT32 }", "ToDtype.dtype: must be float32, float16, bfloat16 or uint8"},
      {"to_dtype { dtype: DTYPE_UINT8 field: 'vector' }",
       "ToDtype.dtype: of a field that is no image must be float32, float16 or bfloat16"},
      {"normalize { mean: 0 std: [1, 0, 1] }", "Normalize.std: 0 is not above 0"},
      {"normalize { std: 1 }",
       "Normalize.mean: give one number, or one for each channel or element, 4096 at most; found 0"},
      {"mix_up { num_classes: -1 }", "MixUp.num_classes: must be given, from 1 to 1048576; found -1"},
      {"cut_mix { num_classes: 9 alpha: 0 }", "CutMix.alpha: 0 is not between 0.001 and 1000"},
      {"one_hot { num_classes: 9 dtype: DTYPE_FLOAT64 }",
       "OneHot.dtype: must be float32, float16, bfloat16, uint8 or int64"},
      {"unpack_bits { shape: 8 }", "UnpackBits.field: must be given"},
      {"to_dense {}", "ToDense.field: must be given"},
      {"unpack_bits { field: 'mask' }", "UnpackBits.shape: give 1 to 8 numbers; found 0"},
      {"unpack_bits { field: 'mask' shape: [8, 0] }", "UnpackBits.shape: is empty or above 268435456 elements"},
      {"unpack_bits { field: 'mask' shape: 8 bit_order: 7 }", "UnpackBits.bit_order: unknown value 7"},
      {"sanitize_bounding_boxes { min_size: -1 }", "SanitizeBoundingBoxes.min_size: -1 is not between 0 and 16384"},
      {"sanitize_bounding_boxes { min_size: nan }", "SanitizeBoundingBoxes.min_size: nan is not between 0 and 16384"},
      {"sanitize_bounding_boxes { min_area: 1e9 }",
       "SanitizeBoundingBoxes.min_area: 1e+09 is not between 0 and 2.68435e+08"},
      {"sanitize_bounding_boxes { labels: ['labels', ''] }", "SanitizeBoundingBoxes.labels: a field needs a name"},
      {"sanitize_bounding_boxes { labels: ['labels', 'labels'] }",
       "SanitizeBoundingBoxes.labels: 'labels' stands twice"},
      {"sanitize_bounding_boxes { labels: 'boxes' }",
       "SanitizeBoundingBoxes.labels: 'boxes' are the boxes themselves; leave it out"},
      {"sanitize_bounding_boxes { field: 'faces' labels: 'faces' }",
       "SanitizeBoundingBoxes.labels: 'faces' are the boxes themselves; leave it out"},
      {"resample {}", "Resample.sample_rate: give the new samples a second, 1 to 768000; found 0"},
      {"random_audio_crop { samples: -1 }",
       "RandomAudioCrop.samples: give the stretch's samples, 1 to 134217728; found -1"},
      {"auto_augment { policy: 9 }", "AutoAugment.policy: unknown value 9; imagenet, cifar10 and svhn are known"},
      {"auto_augment { interpolation: INTERPOLATION_BICUBIC }",
       "AutoAugment.interpolation: must be nearest or bilinear"},
      {"gaussian_noise { clip: false }",
       "GaussianNoise.clip: must be true: images are uint8 here, which would wrap around"},
      {"gaussian_noise { sigma: -1 }", "GaussianNoise.sigma: -1 is not between 0 and 10"},
      {"gaussian_noise { mean: nan }", "GaussianNoise.mean: nan is not between -10 and 10"},
      {"jpeg {}", "JPEG.quality: give one number, or from and to; found 0"},
      {"jpeg { quality: [1, 2, 3] }", "JPEG.quality: give one number, or from and to; found 3"},
      {"jpeg { quality: 0 }", "JPEG.quality: [0, 0] is not an ascending range within 1 and 100"},
      {"jpeg { quality: [90, 30] }", "JPEG.quality: [90, 30] is not an ascending range within 1 and 100"},
      {"random_perspective { distortion_scale: 1.5 }",
       "RandomPerspective.distortion_scale: 1.5 is not between 0 and 1"},
      {"random_perspective { map_fill: 40000 }", "RandomPerspective.map_fill: 40000 is not between -32768 and 32767"},
      {"elastic_transform { alpha: [1, 2, 3] }",
       "ElasticTransform.alpha: give one number, or across and down; found 3"},
      {"elastic_transform { sigma: -1 }", "ElasticTransform.sigma: -1 is not between 0 and 100"},
      {"elastic_transform { alpha: nan }", "ElasticTransform.alpha: nan is not between 0 and 1e+06"},
      {"aug_mix { severity: 11 }", "AugMix.severity: 11 is not between 1 and 10"},
      {"aug_mix { mixture_width: 0 }", "AugMix.mixture_width: 0 is not between 1 and 16"},
      {"aug_mix { chain_depth: 0 }", "AugMix.chain_depth: 0 is not between 1 and 16, nor -1, by which it is drawn"},
      {"aug_mix { alpha: 0 }", "AugMix.alpha: 0 is not between 0.001 and 1000"},
      {"random_zoom_out { side_range: 2 }", "RandomZoomOut.side_range: give two numbers, from and to; found 1"},
      {"random_zoom_out { side_range: [0.5, 2] }",
       "RandomZoomOut.side_range: [0.5, 2] is not an ascending range within 1 and 1000"},
      {"random_zoom_out { side_range: [2, nan] }",
       "RandomZoomOut.side_range: [2, nan] is not an ascending range within 1 and 1000"},
      {"random_zoom_out { fill: 256 }", "RandomZoomOut.fill: 256 is not between 0 and 255"},
      {"random_zoom_out { map_fill: 40000 }", "RandomZoomOut.map_fill: 40000 is not between -32768 and 32767"},
      {"random_zoom_out { p: 2 }", "RandomZoomOut.p: 2 is not a probability"},
      {"scale_jitter { target_size: 8 }", "ScaleJitter.target_size: give two numbers, width and height; found 1"},
      {"scale_jitter { target_size: [8, 0] }", "ScaleJitter.target_size: 0 is not between 1 and 16384"},
      {"scale_jitter { target_size: [8, 8] scale_range: [2, 1] }",
       "ScaleJitter.scale_range: [2, 1] is not an ascending range above 0 and up to 1000"},
      {"scale_jitter { target_size: [8, 8] interpolation: 9 }", "ScaleJitter.interpolation: unknown value 9"},
      {"random_shortest_size {}", "RandomShortestSize.min_size: give 1 to 1024 numbers; found 0"},
      {"random_shortest_size { min_size: [8, 0] }", "RandomShortestSize.min_size: 0 is not between 1 and 16384"},
      {"random_shortest_size { min_size: 8 max_size: -1 }",
       "RandomShortestSize.max_size: -1 is not between 0 and 16384"},
      {"random_shortest_size { min_size: 8 interpolation: 9 }", "RandomShortestSize.interpolation: unknown value 9"},
      {"random_choice { transforms { mix_up { num_classes: 9 } } transforms { random_invert {} } }",
       "RandomChoice.transforms: MixUp and CutMix work on a batch, and can be chosen among each other only"},
      {"random_choice { transforms { mix_up { num_classes: 9 } } transforms { cut_mix { num_classes: 8 } } }",
       "RandomChoice.transforms: all must have the same num_classes and field"},
      {"random_choice { transforms { mix_up {} } transforms { cut_mix { per_sample: true } } }",
       "RandomChoice.transforms: all must have the same per_sample"},
      {"label_smoothing {}", "LabelSmoothing.smoothing: must be given"},
      {"label_smoothing { smoothing: 1.5 }", "LabelSmoothing.smoothing: 1.5 is not between 0 and 1"},
      {"to_padded { rows: 3 }", "ToPadded.field: must be given"},
      {"to_padded { field: 'boxes' }", "ToPadded.rows: must be given, from 1 to 1048576; found 0"},
      {"to_padded { field: 'boxes' rows: 3 fill: inf }", "ToPadded.fill: must be finite"},
      {"random_iou_crop { min_scale: 0.9 max_scale: 0.8 }",
       "RandomIoUCrop.min_scale, max_scale: [0.9, 0.8] is not an ascending range within 0 and 1"},
      {"random_iou_crop { max_aspect_ratio: nan }",
       "RandomIoUCrop.min_aspect_ratio, max_aspect_ratio: [0.5, nan] is not an ascending range within 0 and 1000"},
      {"random_iou_crop { sampler_options: -1 }", "RandomIoUCrop.sampler_options: -1 is not between 0 and 1000"},
      {"random_iou_crop { trials: 0 }", "RandomIoUCrop.trials: 0 is not between 1 and 1000"},
      {"random_iou_crop { labels: 'boxes' }", "RandomIoUCrop.labels: 'boxes' are the boxes themselves; leave it out"},
      {"pad {}", "Pad.padding: give 1, 2 or 4 numbers; found none"},
      {"pad { padding: -1 }", "Pad.padding: -1 is not between 0 and 16384"},
      {"pad { padding: 1 fill: [1, 2] }", "Pad.fill: give one number, or red, green and blue; found 2"},
      {"pad { padding: 1 padding_mode: 9 }", "Pad.padding_mode: unknown value 9"},
      {"color_jitter { brightness: -0.1 }", "ColorJitter.brightness: -0.1 is not between 0 and 999"},
      {"color_jitter { brightness: nan }", "ColorJitter.brightness: nan is not between 0 and 999"},
      {"color_jitter { contrast: [1.2, 0.8] }",
       "ColorJitter.contrast: [1.2, 0.8] is not an ascending range within 0 and 1000"},
      {"color_jitter { saturation: [1, 2, 3] }",
       "ColorJitter.saturation: give one number, or from and to; found 3 numbers"},
      {"color_jitter { hue: 0.6 }", "ColorJitter.hue: 0.6 is not between 0 and 0.5"},
      {"color_jitter { hue: [-0.6, 0.1] }",
       "ColorJitter.hue: [-0.6, 0.1] is not an ascending range within -0.5 and 0.5"},
      {"grayscale {}",
       "Grayscale.num_output_channels: must be 3, found 0; images have three channels here, and "
       "torchvision's default of 1 is not offered"},
      {"random_grayscale { p: -1 }", "RandomGrayscale.p: -1 is not a probability"},
      {"random_rotation {}", "RandomRotation.degrees: give one number, or from and to; found none"},
      {"random_rotation { degrees: -5 }", "RandomRotation.degrees: -5 is not between 0 and 3600"},
      {"random_rotation { degrees: 5 interpolation: INTERPOLATION_LANCZOS }",
       "RandomRotation.interpolation: must be nearest or bilinear"},
      {"random_rotation { degrees: 5 fill: -1 }", "RandomRotation.fill: -1 is not between 0 and 255"},
      {"random_affine {}", "RandomAffine.degrees: give one number, or from and to; found none"},
      {"random_affine { degrees: 0 translate: 0.1 }",
       "RandomAffine.translate: give two numbers, across and down; found 1"},
      {"random_affine { degrees: 0 translate: [0.1, 1.1] }", "RandomAffine.translate: 1.1 is not between 0 and 1"},
      {"random_affine { degrees: 0 scale: [0, 1] }",
       "RandomAffine.scale: [0, 1] is not an ascending range above 0 and up to 1000"},
      {"random_affine { degrees: 0 scale: [0.0001, 1] }", "RandomAffine.scale: must not be below 0.001"},
      {"random_affine { degrees: 0 shear: 90 }", "RandomAffine.shear: 90 is not between 0 and 89"},
      {"random_affine { degrees: 0 shear: [0, 1, 3, 2] }",
       "RandomAffine.shear: [3, 2] is not an ascending range within -89 and 89"},
      {"random_affine { degrees: 0 shear: [0, 1, 3] }",
       "RandomAffine.shear: give one number, or from and to; found 3 numbers"},
      {"gaussian_blur {}", "GaussianBlur.kernel_size: give one number, or across and down; found 0 numbers"},
      {"gaussian_blur { kernel_size: 4 }", "GaussianBlur.kernel_size: 4 is not an odd number from 1 to 255"},
      {"gaussian_blur { kernel_size: 5 sigma: 0 }", "GaussianBlur.sigma: 0 is not above 0 and up to 1000"},
      {"gaussian_blur { kernel_size: 5 sigma: [2, 1] }",
       "GaussianBlur.sigma: [2, 1] is not an ascending range above 0 and up to 1000"},
      {"random_erasing { scale: [0.5, 1.5] }",
       "RandomErasing.scale: [0.5, 1.5] is not an ascending range within 0 and 1"},
      {"random_erasing { ratio: 1 }", "RandomErasing.ratio: give two numbers, from and to; found 1"},
      {"random_erasing { value: inf }", "RandomErasing.value: inf is not between -1e+06 and 1e+06"},
      {"random_erasing { noise: true value: 3 }",
       "RandomErasing.value: with `noise` values are drawn; leave one of them out"},
      {"random_apply { transforms { random_erasing { value: 0.5 } } }",
       "RandomApply.transforms[0]: RandomErasing.value: 0.5 is not a whole number from 0 to 255; after ToDtype it may "
       "be"},
      {"random_mask {}", "RandomMask.ratio: 0 is not above 0 and up to 1"},
      {"convert_color {}", "ConvertColor.to: must be ycbcr"},
      {"random_posterize { bits: 9 }", "RandomPosterize.bits: 9 is not between 0 and 8"},
      {"random_solarize { threshold: 257 }", "RandomSolarize.threshold: 257 is not between 0 and 256"},
      {"random_equalize { p: 2 }", "RandomEqualize.p: 2 is not a probability"},
      {"random_autocontrast { p: 2 }", "RandomAutocontrast.p: 2 is not a probability"},
      {"random_invert { p: 2 }", "RandomInvert.p: 2 is not a probability"},
      {"random_adjust_sharpness { sharpness_factor: -1 }",
       "RandomAdjustSharpness.sharpness_factor: -1 is not between 0 and 1000"},
      {"adjust_brightness { brightness_factor: -1 }",
       "AdjustBrightness.brightness_factor: -1 is not between 0 and 1000"},
      {"adjust_contrast { contrast_factor: inf }", "AdjustContrast.contrast_factor: inf is not between 0 and 1000"},
      {"adjust_saturation { saturation_factor: nan }",
       "AdjustSaturation.saturation_factor: nan is not between 0 and 1000"},
      {"adjust_hue { hue_factor: -0.6 }", "AdjustHue.hue_factor: -0.6 is not between -0.5 and 0.5"},
      {"rand_augment { num_ops: -1 }", "RandAugment.num_ops: -1 is not between 0 and 64"},
      {"rand_augment { map_fill: 40000 }", "RandAugment.map_fill: 40000 is not between -32768 and 32767"},
      {"pad { padding: 1 map_fill: -32769 }", "Pad.map_fill: -32769 is not between -32768 and 32767"},
      {"rand_augment { magnitude: 31 }",
       "RandAugment.magnitude: 31 is not between 0 and 30, the last of num_magnitude_bins"},
      {"rand_augment { num_magnitude_bins: 1 }", "RandAugment.num_magnitude_bins: 1 is not between 2 and 65536"},
      {"trivial_augment_wide { num_magnitude_bins: 0 }",
       "TrivialAugmentWide.num_magnitude_bins: 0 is not between 2 and 65536"},
      {"trivial_augment_wide { interpolation: INTERPOLATION_BICUBIC }",
       "TrivialAugmentWide.interpolation: must be nearest or bilinear"},
      {"random_apply {}", "RandomApply.transforms: give at least one op"},
      {"random_choice { transforms { random_invert {} } p: [1, 2] }",
       "RandomChoice.p: give a weight for each of 1 transforms; found 2"},
      {"random_choice { transforms { random_invert {} } p: 0 }", "RandomChoice.p: weights must not all be 0"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(ValidateOp(ParseOp(text)).message(), message) << text;
}

// A short form, the same written out as WithDefaults does, and ops that differ from it in one argument each.
struct Forms {
  std::string given, written_out;
  std::vector<std::string> others;
};

const Forms kForms[] = {
    {"random_resized_crop { size: 224 }",
     "random_resized_crop { size: [224, 224] scale: [0.08, 1] ratio: [0.75, 1.3333333333333333] "
     "interpolation: INTERPOLATION_BILINEAR antialias: true }",
     {"random_resized_crop { size: 225 }", "random_resized_crop { size: 224 scale: [0.09, 1] }",
      "random_resized_crop { size: 224 ratio: [1, 1] }", "random_resized_crop { size: 224 antialias: false }",
      "random_resized_crop { size: 224 interpolation: INTERPOLATION_LANCZOS }"}},
    {"resize { size: 8 }",
     "resize { size: 8 interpolation: INTERPOLATION_BILINEAR antialias: true }",
     {"resize { size: [8, 8] }", "resize { size: 8 max_size: 9 }", "resize { size: 8 antialias: false }",
      "resize { size: 8 multiple: 4 }", "resize { size: 8 interpolation: INTERPOLATION_BICUBIC }"}},
    {"center_crop { size: 8 }", "center_crop { size: [8, 8] }", {"center_crop { size: [8, 9] }"}},
    {"random_crop { size: 8 }",
     "random_crop { size: [8, 8] padding: [0, 0, 0, 0] fill: [0, 0, 0] }",
     {"random_crop { size: 9 }", "random_crop { size: 8 padding: 1 }", "random_crop { size: 8 pad_if_needed: true }",
      "random_crop { size: 8 fill: 1 }", "random_crop { size: 8 map_fill: 1 }"}},
    {"random_horizontal_flip {}", "random_horizontal_flip { p: 0.5 }", {"random_horizontal_flip { p: 0 }"}},
    {"random_vertical_flip {}", "random_vertical_flip { p: 0.5 }", {"random_vertical_flip { p: 0 }"}},
    {"pad { padding: [1, 2] fill: 3 }",
     "pad { padding: [1, 2, 1, 2] fill: [3, 3, 3] padding_mode: PADDING_MODE_CONSTANT }",
     {"pad { padding: 1 fill: 3 }", "pad { padding: [1, 2] }",
      "pad { padding: [1, 2] fill: 3 padding_mode: PADDING_MODE_EDGE }",
      "pad { padding: [1, 2] fill: 3 map_fill: -1 }"}},
    {"color_jitter { brightness: 0.25 hue: 0.125 contrast: 1.5 }",
     "color_jitter { brightness: [0.75, 1.25] contrast: [0, 2.5] saturation: [1, 1] hue: [-0.125, 0.125] }",
     {"color_jitter { brightness: 0.5 hue: 0.125 contrast: 1.5 }",
      "color_jitter { brightness: 0.25 hue: 0.25 contrast: 1.5 }",
      "color_jitter { brightness: 0.25 hue: 0.125 contrast: [0.5, 2.5] }",
      "color_jitter { brightness: 0.25 hue: 0.125 contrast: 1.5 saturation: 0.1 }"}},
    {"grayscale { num_output_channels: 3 }", "grayscale { num_output_channels: 3 }", {}},
    {"random_grayscale {}", "random_grayscale { p: 0.1 }", {"random_grayscale { p: 0.5 }"}},
    {"random_rotation { degrees: 5 }",
     "random_rotation { degrees: [-5, 5] interpolation: INTERPOLATION_NEAREST fill: [0, 0, 0] }",
     {"random_rotation { degrees: 6 }", "random_rotation { degrees: 5 interpolation: INTERPOLATION_BILINEAR }",
      "random_rotation { degrees: 5 fill: 1 }", "random_rotation { degrees: 5 map_fill: 1 }"}},
    {"random_affine { degrees: 5 shear: [1, 2] }",
     "random_affine { degrees: [-5, 5] translate: [0, 0] scale: [1, 1] shear: [1, 2, 0, 0] "
     "interpolation: INTERPOLATION_NEAREST fill: [0, 0, 0] }",
     {"random_affine { degrees: 4 shear: [1, 2] }", "random_affine { degrees: 5 shear: 1 }",
      "random_affine { degrees: 5 shear: [1, 2] translate: [0, 0.5] }",
      "random_affine { degrees: 5 shear: [1, 2] scale: [1, 2] }", "random_affine { degrees: 5 shear: [1, 2] fill: 1 }",
      "random_affine { degrees: 5 shear: [1, 2] interpolation: INTERPOLATION_BILINEAR }",
      "random_affine { degrees: 5 shear: [1, 2] map_fill: 1 }"}},
    {"gaussian_blur { kernel_size: 5 }",
     "gaussian_blur { kernel_size: [5, 5] sigma: [0.1, 2] }",
     {"gaussian_blur { kernel_size: [5, 3] }", "gaussian_blur { kernel_size: 5 sigma: 2 }"}},
    {"random_erasing {}",
     "random_erasing { p: 0.5 scale: [0.02, 0.33] ratio: [0.3, 3.3] value: [0, 0, 0] }",
     {"random_erasing { p: 1 }", "random_erasing { scale: [0, 0.33] }", "random_erasing { ratio: [1, 1] }",
      "random_erasing { value: 1 }", "random_erasing { noise: true }"}},
    {"random_mask { ratio: 0.5 }",
     "random_mask { ratio: 0.5 dilate: true }",
     {"random_mask { ratio: 0.25 }", "random_mask { ratio: 0.5 dilate: false }"}},
    {"convert_color { to: COLOR_SPACE_YCBCR }", "convert_color { to: COLOR_SPACE_YCBCR }", {}},
    {"random_posterize { bits: 4 }",
     "random_posterize { bits: 4 p: 0.5 }",
     {"random_posterize { bits: 3 }", "random_posterize { bits: 4 p: 1 }"}},
    {"random_solarize { threshold: 4 }",
     "random_solarize { threshold: 4 p: 0.5 }",
     {"random_solarize { threshold: 3 }", "random_solarize { threshold: 4 p: 1 }"}},
    {"random_equalize {}", "random_equalize { p: 0.5 }", {"random_equalize { p: 1 }"}},
    {"random_autocontrast {}", "random_autocontrast { p: 0.5 }", {"random_autocontrast { p: 1 }"}},
    {"random_invert {}", "random_invert { p: 0.5 }", {"random_invert { p: 1 }"}},
    {"random_adjust_sharpness { sharpness_factor: 2 }",
     "random_adjust_sharpness { sharpness_factor: 2 p: 0.5 }",
     {"random_adjust_sharpness { sharpness_factor: 3 }", "random_adjust_sharpness { sharpness_factor: 2 p: 1 }"}},
    {"adjust_brightness { brightness_factor: 2 }",
     "adjust_brightness { brightness_factor: 2 }",
     {"adjust_brightness { brightness_factor: 3 }"}},
    {"adjust_contrast { contrast_factor: 2 }",
     "adjust_contrast { contrast_factor: 2 }",
     {"adjust_contrast { contrast_factor: 3 }"}},
    {"adjust_saturation { saturation_factor: 2 }",
     "adjust_saturation { saturation_factor: 2 }",
     {"adjust_saturation { saturation_factor: 3 }"}},
    {"adjust_hue { hue_factor: 0.2 }", "adjust_hue { hue_factor: 0.2 }", {"adjust_hue { hue_factor: -0.2 }"}},
    {"rand_augment {}",
     "rand_augment { num_ops: 2 magnitude: 9 num_magnitude_bins: 31 interpolation: INTERPOLATION_NEAREST "
     "fill: [0, 0, 0] }",
     {"rand_augment { num_ops: 3 }", "rand_augment { magnitude: 8 }", "rand_augment { num_magnitude_bins: 10 }",
      "rand_augment { interpolation: INTERPOLATION_BILINEAR }", "rand_augment { fill: 128 }",
      "rand_augment { map_fill: 1 }"}},
    {"trivial_augment_wide {}",
     "trivial_augment_wide { num_magnitude_bins: 31 interpolation: INTERPOLATION_NEAREST fill: [0, 0, 0] }",
     {"trivial_augment_wide { num_magnitude_bins: 30 }",
      "trivial_augment_wide { interpolation: INTERPOLATION_BILINEAR }", "trivial_augment_wide { fill: 128 }",
      "trivial_augment_wide { map_fill: 1 }"}},
    {"random_apply { transforms { random_invert {} } }",
     "random_apply { p: 0.5 transforms { placement: PLACEMENT_SERVER random_invert { p: 0.5 } } }",
     {"random_apply { transforms { random_invert {} } p: 1 }", "random_apply { transforms { random_equalize {} } }",
      "random_apply { transforms { random_invert { p: 1 } } }",
      "random_apply { transforms { random_invert {} } transforms { random_invert {} } }"}},
    {"random_choice { transforms { random_invert {} } transforms { random_equalize {} } }",
     "random_choice { transforms { placement: PLACEMENT_SERVER random_invert { p: 0.5 } } "
     "transforms { placement: PLACEMENT_SERVER random_equalize { p: 0.5 } } p: [0.5, 0.5] }",
     {"random_choice { transforms { random_invert {} } transforms { random_equalize {} } p: [1, 2] }",
      "random_choice { transforms { random_equalize {} } transforms { random_invert {} } }",
      "random_choice { transforms { random_invert {} } }"}},
    {"to_dtype { dtype: DTYPE_FLOAT32 }",
     "to_dtype { dtype: DTYPE_FLOAT32 }",
     {"to_dtype { dtype: DTYPE_FLOAT32 scale: true }", "to_dtype { dtype: DTYPE_UINT8 }",
      "to_dtype { dtype: DTYPE_FLOAT32 field: 'vector' }"}},
    {"normalize { mean: 0 std: 1 }",
     "normalize { mean: 0 std: 1 }",
     {"normalize { mean: 1 std: 1 }", "normalize { mean: 0 std: 2 }", "normalize { mean: 0 std: 1 field: 'vector' }"}},
    {"to_memory_format {}",
     "to_memory_format { memory_format: MEMORY_FORMAT_CHANNELS_FIRST }",
     {"to_memory_format { memory_format: MEMORY_FORMAT_CHANNELS_LAST }"}},
    {"mix_up { num_classes: 9 }",
     "mix_up { num_classes: 9 alpha: 1 field: 'label' }",
     {"mix_up { num_classes: 8 }", "mix_up { num_classes: 9 alpha: 0.5 }", "mix_up { num_classes: 9 field: 'class' }",
      "mix_up { num_classes: 9 per_sample: true }"}},
    {"cut_mix { num_classes: 9 }",
     "cut_mix { num_classes: 9 alpha: 1 field: 'label' }",
     {"cut_mix { num_classes: 8 }", "cut_mix { num_classes: 9 alpha: 0.5 }",
      "cut_mix { num_classes: 9 field: 'class' }", "cut_mix { num_classes: 9 per_sample: true }"}},
    {"one_hot { num_classes: 9 }",
     "one_hot { num_classes: 9 field: 'label' dtype: DTYPE_FLOAT32 }",
     {"one_hot { num_classes: 8 }", "one_hot { num_classes: 9 field: 'class' }",
      "one_hot { num_classes: 9 dtype: DTYPE_INT64 }"}},
    {"to_dense { field: 'words' }", "to_dense { field: 'words' }", {"to_dense { field: 'tags' }"}},
    {"unpack_bits { field: 'mask' shape: 9 }",
     "unpack_bits { field: 'mask' shape: 9 bit_order: BIT_ORDER_BIG }",
     {"unpack_bits { field: 'mask' shape: 8 }", "unpack_bits { field: 'bits' shape: 9 }",
      "unpack_bits { field: 'mask' shape: 9 bit_order: BIT_ORDER_LITTLE }"}},
    {"sanitize_bounding_boxes {}",
     "sanitize_bounding_boxes { min_size: 1 min_area: 1 field: 'boxes' }",
     {"sanitize_bounding_boxes { min_size: 0 }", "sanitize_bounding_boxes { min_area: 0 }",
      "sanitize_bounding_boxes { field: 'faces' }", "sanitize_bounding_boxes { labels: 'labels' }"}},
    {"resample { sample_rate: 16000 }",
     "resample { sample_rate: 16000 field: 'audio' }",
     {"resample { sample_rate: 8000 }", "resample { sample_rate: 16000 field: 'speech' }"}},
    {"random_audio_crop { samples: 9 }",
     "random_audio_crop { samples: 9 field: 'audio' }",
     {"random_audio_crop { samples: 8 }", "random_audio_crop { samples: 9 center: true }",
      "random_audio_crop { samples: 9 field: 'speech' }"}},
    {"random_zoom_out { fill: 3 }",
     "random_zoom_out { fill: [3, 3, 3] side_range: [1, 4] p: 0.5 }",
     {"random_zoom_out {}", "random_zoom_out { fill: 3 side_range: [1, 3] }", "random_zoom_out { fill: 3 p: 1 }",
      "random_zoom_out { fill: 3 map_fill: -1 }"}},
    {"scale_jitter { target_size: [8, 9] }",
     "scale_jitter { target_size: [8, 9] scale_range: [0.1, 2] interpolation: INTERPOLATION_BILINEAR antialias: true }",
     {"scale_jitter { target_size: [9, 8] }", "scale_jitter { target_size: [8, 9] scale_range: [0.1, 1] }",
      "scale_jitter { target_size: [8, 9] interpolation: INTERPOLATION_NEAREST }",
      "scale_jitter { target_size: [8, 9] antialias: false }"}},
    {"random_shortest_size { min_size: [8, 9] }",
     "random_shortest_size { min_size: [8, 9] interpolation: INTERPOLATION_BILINEAR antialias: true }",
     {"random_shortest_size { min_size: [9, 8] }", "random_shortest_size { min_size: [8, 9] max_size: 10 }",
      "random_shortest_size { min_size: [8, 9] interpolation: INTERPOLATION_NEAREST }",
      "random_shortest_size { min_size: [8, 9] antialias: false }"}},
    {"auto_augment {}",
     "auto_augment { policy: AUTO_AUGMENT_POLICY_IMAGENET interpolation: INTERPOLATION_NEAREST fill: [0, 0, 0] }",
     {"auto_augment { policy: AUTO_AUGMENT_POLICY_SVHN }", "auto_augment { interpolation: INTERPOLATION_BILINEAR }",
      "auto_augment { fill: 128 }", "auto_augment { map_fill: 1 }"}},
    {"gaussian_noise {}",
     "gaussian_noise { mean: 0 sigma: 0.1 clip: true }",
     {"gaussian_noise { mean: 0.1 }", "gaussian_noise { sigma: 0.2 }", "gaussian_noise { mean: 0.1 sigma: 0.2 }"}},
    {"jpeg { quality: 50 }", "jpeg { quality: [50, 50] }", {"jpeg { quality: 51 }", "jpeg { quality: [50, 51] }"}},
    {"random_perspective {}",
     "random_perspective { distortion_scale: 0.5 p: 0.5 interpolation: INTERPOLATION_BILINEAR fill: [0, 0, 0] }",
     {"random_perspective { distortion_scale: 0.4 }", "random_perspective { p: 1 }",
      "random_perspective { interpolation: INTERPOLATION_NEAREST }", "random_perspective { fill: 128 }",
      "random_perspective { map_fill: 1 }"}},
    {"elastic_transform {}",
     "elastic_transform { alpha: [50, 50] sigma: [5, 5] interpolation: INTERPOLATION_BILINEAR fill: [0, 0, 0] }",
     {"elastic_transform { alpha: [50, 40] }", "elastic_transform { sigma: 4 }",
      "elastic_transform { interpolation: INTERPOLATION_NEAREST }", "elastic_transform { fill: 128 }",
      "elastic_transform { map_fill: 1 }"}},
    {"mosaic { size: 64 }",
     "mosaic { size: [64, 64] center_range: [0.3, 0.7] p: 1 fill: [114, 114, 114] }",
     {"mosaic { size: [64, 65] }", "mosaic { size: 64 center_range: [0.2, 0.7] }", "mosaic { size: 64 p: 0.5 }",
      "mosaic { size: 64 fill: 0 }", "mosaic { size: 64 map_fill: 1 }", "mosaic { size: 64 labels: 'classes' }"}},
    {"aug_mix {}",
     "aug_mix { severity: 3 mixture_width: 3 chain_depth: -1 alpha: 1 all_ops: true "
     "interpolation: INTERPOLATION_BILINEAR fill: [0, 0, 0] }",
     {"aug_mix { severity: 4 }", "aug_mix { mixture_width: 2 }", "aug_mix { chain_depth: 2 }", "aug_mix { alpha: 2 }",
      "aug_mix { all_ops: false }", "aug_mix { interpolation: INTERPOLATION_NEAREST }", "aug_mix { fill: 128 }"}},
    {"random_iou_crop { sampler_options: [ 0.5, 2 ] }",
     "random_iou_crop { min_scale: 0.3 max_scale: 1 min_aspect_ratio: 0.5 max_aspect_ratio: 2 "
     "sampler_options: [ 0.5, 1 ] trials: 40 field: 'boxes' }",
     {"random_iou_crop {}", "random_iou_crop { sampler_options: [ 0.5, 2 ] min_scale: 0.4 }",
      "random_iou_crop { sampler_options: [ 0.5, 2 ] max_scale: 0.4 }",
      "random_iou_crop { sampler_options: [ 0.5, 2 ] min_aspect_ratio: 1 }",
      "random_iou_crop { sampler_options: [ 0.5, 2 ] max_aspect_ratio: 1 }",
      "random_iou_crop { sampler_options: [ 0.5, 2 ] trials: 41 }",
      "random_iou_crop { sampler_options: [ 0.5, 2 ] field: 'faces' }",
      "random_iou_crop { sampler_options: [ 0.5, 2 ] labels: 'labels' }"}},
    {"label_smoothing { smoothing: 0.1 }",
     "label_smoothing { smoothing: 0.1 field: 'label' }",
     {"label_smoothing { smoothing: 0.2 }", "label_smoothing { smoothing: 0.1 field: 'class' }"}},
    {"to_padded { field: 'boxes' rows: 8 }",
     "to_padded { field: 'boxes' rows: 8 fill: 0 }",
     {"to_padded { field: 'faces' rows: 8 }", "to_padded { field: 'boxes' rows: 9 }",
      "to_padded { field: 'boxes' rows: 8 fill: -1 }"}},
};

uint64_t HashOf(const v1::Op& op) {
  v1::Pipeline pipeline;
  *pipeline.add_ops() = op;
  return WholeHash(pipeline);
}

TEST(OpArgumentsTest, EveryOpOfTheSchemaHasItsForms) {
  const auto& oneof = *v1::Op::descriptor()->FindOneofByName("op");
  std::multiset<int> shown;
  for (const Forms& forms : kForms) shown.insert(ParseOp(forms.given).op_case());
  for (int i = 0; i < oneof.field_count(); ++i) {
    const std::string& name = oneof.field(i)->message_type()->name();
    EXPECT_EQ(shown.count(oneof.field(i)->number()), name == "OwnOp" ? 0 : 1) << "forms of " << name << " in kForms";
  }
}

TEST(OpArgumentsTest, DefaultsAndShortFormsAreWrittenOut) {
  for (const Forms& forms : kForms) {
    ASSERT_TRUE(ValidateOp(ParseOp(forms.given)).ok()) << ValidateOp(ParseOp(forms.given));
    v1::Op full = WithDefaults(ParseOp(forms.given));
    EXPECT_TRUE(ValidateOp(full).ok()) << ValidateOp(full);
    EXPECT_EQ(full.SerializeAsString(), WithDefaults(full).SerializeAsString()) << forms.given;
    full.clear_placement();
    EXPECT_EQ(full.DebugString(), ParseOp(forms.written_out).DebugString());
  }
}

TEST(OpArgumentsTest, EachArgumentChangesTheHashAndWrittenOutDefaultsDoNot) {
  for (const Forms& forms : kForms) {
    const uint64_t hash = HashOf(ParseOp(forms.given));
    EXPECT_EQ(hash, HashOf(ParseOp(forms.written_out))) << forms.given;
    for (const std::string& other : forms.others) {
      EXPECT_TRUE(ValidateOp(ParseOp(other)).ok()) << ValidateOp(ParseOp(other));
      EXPECT_NE(hash, HashOf(ParseOp(other))) << other;
    }
  }
}

TEST(OpArgumentsTest, WrittenOutDefaultsDrawTheSame) {
  for (const Forms& forms : kForms) {
    const v1::Op given = ParseOp(forms.given);
    if (PlacementOf(given) == v1::PLACEMENT_DEVICE) continue;
    for (uint64_t position = 0; position < 20; ++position)
      EXPECT_EQ(Drawn(given, {300, 400}, position), Drawn(ParseOp(forms.written_out), {300, 400}, position))
          << forms.given;
  }
}

TEST(OpArgumentsTest, EveryArgumentHasAnOpThatDiffersInIt) {
  for (const Forms& forms : kForms) {
    const v1::Op op = ParseOp(forms.given);
    const auto* field = v1::Op::descriptor()->FindFieldByNumber(op.op_case());
    const auto* type = field->message_type();
    const bool one_value_only = type->name() == "Grayscale" || type->name() == "ConvertColor";
    if (!one_value_only) {
      EXPECT_GE(static_cast<int>(forms.others.size()), type->field_count()) << type->name();
    }
  }
}

// Weights are shares: only their proportions count.
TEST(OpArgumentsTest, WeightsInProportionAreEqualOps) {
  const std::string transforms = "transforms { random_invert {} } transforms { random_equalize {} }";
  const v1::Op given = ParseOp("random_choice { " + transforms + " p: [1, 2] }");
  const v1::Op scaled = ParseOp("random_choice { " + transforms + " p: [3, 6] }");
  EXPECT_EQ(HashOf(given), HashOf(scaled));
  for (uint64_t position = 0; position < 100; ++position)
    EXPECT_EQ(Drawn(given, {8, 8}, position), Drawn(scaled, {8, 8}, position));
}

}  // namespace
}  // namespace stoker
