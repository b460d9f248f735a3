// Hue in float32 vectors. Included once for each Highway target.
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

// Three channels of colors, whichever they are.
struct ColorVectors {
  Floats red, green, blue;
};

// What PIL's Image.convert("HSV") makes of `colors`, but for truncation: hue, of which 255 are one turn, saturation and
// value. PIL's arithmetic is rounded in other places (partly in double), yet all of the 2^24 colors come out alike, but
// for the hue of grays.
HWY_INLINE ColorVectors ToHsv(const ColorVectors& colors) {
  const FloatTag df;
  const auto& [red, green, blue] = colors;
  const Floats value = hn::Max(red, hn::Max(green, blue));
  const Floats one = hn::Set(df, 1.0f), level = hn::Set(df, 255.0f);
  const Floats low = hn::Min(red, hn::Min(green, blue));
  const Floats chroma = hn::Sub(value, low);
  const Floats sum = hn::Add(red, hn::Add(green, blue));
  const Floats below = hn::Sub(hn::Add(value, hn::Add(value, low)), sum);  // Of the middle channel, from the largest.
  const Floats part = hn::Div(below, hn::Max(chroma, one));
  // Sixths of a turn: `start` ± part, from the largest channel and the smallest.
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

// value · (1 − saturation · absence), rounded; `absence` is clamped to 0…255, as saturation is in 0…255. Below 2^24
// and so exact up to the last product, whose rounding crosses no half.
HWY_INLINE Floats Channel(Floats value, Floats saturation, Floats absence) {
  const FloatTag df;
  const Floats clamped = hn::Min(hn::Max(absence, hn::Zero(df)), hn::Set(df, 255.0f));
  const Floats kept = hn::Sub(hn::Set(df, 65025.0f), hn::Mul(saturation, clamped));
  return hn::Add(hn::Mul(hn::Mul(value, kept), hn::Set(df, 1.0f / 65025.0f)), hn::Set(df, 0.5f));
}

// PIL's HSV → RGB, but for truncation, of a hue turned by `shift`, from 0 to 255: it wraps around at 256, not at 255,
// as it does in torchvision's adjust_hue. How much of a channel is absent at full saturation goes up and down along
// straight lines around the circle: six of them, 255 steps each.
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
