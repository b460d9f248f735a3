// Conversion between RGB and HSV in float32 vectors. This file is included once for each Highway target.
#if defined(STOKER_SERVER_AUGMENT_COLOR_HUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_SERVER_AUGMENT_COLOR_HUE_INL_H_
#undef STOKER_SERVER_AUGMENT_COLOR_HUE_INL_H_
#else
#define STOKER_SERVER_AUGMENT_COLOR_HUE_INL_H_
#endif

#include "server/augment/color/levels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

// Three channels of colors: red, green and blue, or in their places hue, saturation and value.
struct ColorVectors {
  Floats red, green, blue;
};

// Converts as PIL's Image.convert("HSV") does, but does not truncate. The results are hue, of which 255 are one turn,
// saturation and value. PIL's arithmetic rounds in other places (partly in double), and yet all of the 2^24 colors give
// the same levels, but for the hue of grays.
HWY_INLINE ColorVectors ToHsv(const ColorVectors& colors) {
  const FloatTag df;
  const auto& [red, green, blue] = colors;
  const Floats value = hn::Max(red, hn::Max(green, blue));
  const Floats one = hn::Set(df, 1.0f), level = hn::Set(df, 255.0f);
  const Floats low = hn::Min(red, hn::Min(green, blue));
  const Floats chroma = hn::Sub(value, low);
  const Floats sum = hn::Add(red, hn::Add(green, blue));
  const Floats below = hn::Sub(hn::Add(value, hn::Add(value, low)), sum);  // the largest channel less the middle one
  const Floats part = hn::Div(below, hn::Max(chroma, one));
  // The hue is `start` ± part in sixths of a turn. Which channel is the largest and which the smallest decides both.
  const auto red_leads = hn::Eq(red, value), green_leads = hn::Eq(green, value);
  const auto falls = hn::IfThenElse(
      red_leads, hn::VecFromMask(df, hn::Le(blue, green)),
      hn::IfThenElse(green_leads, hn::VecFromMask(df, hn::Gt(blue, red)), hn::VecFromMask(df, hn::Le(green, red))));
  const auto is_falling = hn::MaskFromVec(falls);
  const Floats start = hn::IfThenElse(red_leads, hn::IfThenElse(is_falling, one, hn::Set(df, -1.0f)),
                                      hn::IfThenElse(green_leads, hn::IfThenElse(is_falling, hn::Set(df, 3.0f), one),
                                                     hn::IfThenElse(is_falling, hn::Set(df, 5.0f), hn::Set(df, 3.0f))));
  const Floats sixths = hn::Add(start, hn::IfThenElse(is_falling, hn::Neg(part), part));
  const Floats turn = hn::Div(sixths, hn::Set(df, 6.0f));
  const Floats positive = hn::Add(turn, hn::IfThenElseZero(hn::Lt(turn, hn::Zero(df)), one));
  return {hn::Mul(positive, level), hn::Mul(hn::Div(chroma, hn::Max(value, one)), level), value};
}

// Returns value · (1 − saturation · absence) + 1/2, which truncation then rounds. Saturation is from 0 to 255, a whole,
// and `absence` is clamped to that. All products but the last are below 2^24 and so exact, and the rounding of the last
// crosses no half.
HWY_INLINE Floats Channel(Floats value, Floats saturation, Floats absence) {
  const FloatTag df;
  const Floats clamped = hn::Min(hn::Max(absence, hn::Zero(df)), hn::Set(df, 255.0f));
  const Floats kept = hn::Sub(hn::Set(df, 65025.0f), hn::Mul(saturation, clamped));
  return hn::Add(hn::Mul(hn::Mul(value, kept), hn::Set(df, 1.0f / 65025.0f)), hn::Set(df, 0.5f));
}

// Adds `shift`, from 0 to 255, to the hue and converts to RGB as PIL does, but does not truncate. The hue wraps around
// at 256, not at 255, as in torchvision's adjust_hue. How much of a channel is absent at full saturation goes up and
// down around the circle along six straight lines of 255 steps each.
HWY_INLINE ColorVectors FromHsv(const ColorVectors& hsv, float shift) {
  const FloatTag df;
  const auto& [hue, saturation, value] = hsv;
  const Floats turned = hn::Add(hue, hn::Set(df, shift)), limit = hn::Set(df, 256.0f);
  const Floats steps = hn::Mul(hn::Sub(turned, hn::IfThenElseZero(hn::Ge(turned, limit), limit)), hn::Set(df, 6.0f));
  const auto distance = [&](float center) HWY_ATTR { return hn::Abs(hn::Sub(steps, hn::Set(df, center))); };
  const Floats sixth = hn::Set(df, 255.0f);
  return {Channel(value, saturation, hn::Sub(hn::Set(df, 510.0f), distance(765.0f))),
          Channel(value, saturation, hn::Sub(distance(510.0f), sixth)),
          Channel(value, saturation, hn::Sub(distance(1020.0f), sixth))};
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif  // STOKER_SERVER_AUGMENT_COLOR_HUE_INL_H_
