#include "server/augment/points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "common/check.h"
#include "common/fields/schema.h"
#include "server/augment/elastic.h"

namespace stoker {
namespace {

constexpr size_t kBoxNumbers = 4, kPointNumbers = 2;

struct Point {
  double x = 0, y = 0;
};

constexpr double kNowhere = std::numeric_limits<double>::quiet_NaN();

// The sides of a box are left, top and right, bottom; a stored one may have them the other way round.
struct Box {
  Point first, last;
};

double Width(ImageSize size) { return static_cast<double>(size.width); }
double Height(ImageSize size) { return static_cast<double>(size.height); }

// Returns the nearest float32. The conversion by itself is undefined beyond its range, and a NaN's bits differ by CPU.
float Rounded(double x) {
  using Floats = std::numeric_limits<float>;
  if (std::isnan(x)) return Floats::quiet_NaN();
  if (std::abs(x) > Floats::max()) return x > 0 ? Floats::infinity() : -Floats::infinity();
  return static_cast<float>(x);
}

// NaN stays NaN, whichever it is.
double Lesser(double a, double b) { return b < a || std::isnan(b) ? b : a; }
double Greater(double a, double b) { return b > a || std::isnan(b) ? b : a; }
double Cut(double x, double most) { return Lesser(Greater(x, 0), most); }

Box Cut(const Box& box, ImageSize size) {
  const auto cut = [size](Point point) -> Point { return {Cut(point.x, Width(size)), Cut(point.y, Height(size))}; };
  return {cut(box.first), cut(box.last)};
}

ImageSize SizeAfter(const OpParameters& op, ImageSize size) {
  if (const auto* crop = std::get_if<CropParameters>(&op)) return crop->size;
  if (const auto* resize = std::get_if<ResizeParameters>(&op)) return resize->size;
  return size;
}

// Where an op takes a point of an image of `size`. What changes no place leaves it.
struct MovePoint {
  Point at;
  ImageSize size;
  double pixel;                                  // What the mirrored position of 0 is short of the image's extent.
  const Displacements* displacements = nullptr;  // of an ElasticParameters

  Point operator()(const CropParameters& crop) const {
    return {at.x - static_cast<double>(crop.left), at.y - static_cast<double>(crop.top)};
  }
  Point operator()(const ResizeParameters& resize) const {
    return {at.x * Width(resize.size) / Width(size), at.y * Height(resize.size) / Height(size)};
  }
  Point operator()(const FlipParameters& flip) const {
    if (flip.axis == FlipParameters::Axis::kHorizontal) return {Width(size) - pixel - at.x, at.y};
    return {at.x, Height(size) - pixel - at.y};
  }
  // The matrix leads from the output to the input, so this is its inverse.
  Point operator()(const AffineParameters& affine) const {
    const auto& m = affine.matrix;
    const double determinant = m[0] * m[4] - m[1] * m[3], x = at.x - m[2], y = at.y - m[5];
    if (determinant == 0) return {kNowhere, kNowhere};
    return {(m[4] * x - m[1] * y) / determinant, (m[0] * y - m[3] * x) / determinant};
  }
  // The inverse of the matrix whose last number is 1, but for a factor that the quotients lose.
  Point operator()(const PerspectiveParameters& perspective) const {
    const auto& [a, b, c, d, e, f, g, h] = perspective.coefficients;
    const double w = (d * h - e * g) * at.x + (b * g - a * h) * at.y + (a * e - b * d);
    if (w == 0) return {kNowhere, kNowhere};
    return {((e - f * h) * at.x + (c * h - b) * at.y + (b * f - c * e)) / w,
            ((f * g - d) * at.x + (a - c * g) * at.y + (c * d - a * f)) / w};
  }
  // As torchvision has it, this takes a pixel's way to what it shows for the way back: that of the next whole pixel for
  // a box's corner, and of the one before for a keypoint.
  Point operator()(const ElasticParameters&) const {
    if (std::isnan(at.x) || std::isnan(at.y)) return at;
    const auto whole = [this](double x, double most) {
      x = std::clamp(x, 0.0, most);
      return static_cast<int64_t>(pixel == 0 ? std::ceil(x) : x);
    };
    const int64_t y = whole(at.y, Height(size) - 1), x = whole(at.x, Width(size) - 1);
    return {at.x - displacements->Across(y, x), at.y - displacements->Down(y, x)};
  }
  template <typename Other>
  Point operator()(const Other&) const {
    return at;
  }
};

// Where an op takes a box of an image of `size`.
struct MoveBox {
  Box box;
  ImageSize size;
  const Displacements* displacements = nullptr;

  template <typename Op>
  Point Moved(double x, double y, const Op& op) const {
    return MovePoint{{x, y}, size, 0, displacements}(op);
  }
  template <typename Op>
  Box operator()(const Op& op) const {
    return {Moved(box.first.x, box.first.y, op), Moved(box.last.x, box.last.y, op)};
  }
  Box operator()(const FlipParameters& flip) const {
    Box moved = {Moved(box.first.x, box.first.y, flip), Moved(box.last.x, box.last.y, flip)};
    if (flip.axis == FlipParameters::Axis::kHorizontal)
      std::swap(moved.first.x, moved.last.x);
    else
      std::swap(moved.first.y, moved.last.y);
    return moved;
  }
  Box operator()(const AffineParameters& affine) const { return Around(affine); }
  Box operator()(const PerspectiveParameters& perspective) const { return Around(perspective); }
  Box operator()(const ElasticParameters& elastic) const { return Around(elastic); }

  // The smallest upright box around the four corners.
  template <typename Warp>
  Box Around(const Warp& warp) const {
    const Point corner = Moved(box.first.x, box.first.y, warp);
    Box around = {corner, corner};
    for (const Point& p : {Moved(box.last.x, box.first.y, warp), Moved(box.last.x, box.last.y, warp),
                           Moved(box.first.x, box.last.y, warp)})
      around = {{Lesser(around.first.x, p.x), Lesser(around.first.y, p.y)},
                {Greater(around.last.x, p.x), Greater(around.last.y, p.y)}};
    return around;
  }
};

Box ReadBox(const float* row, v1::BoxFormat format) {
  const double a = row[0], b = row[1], c = row[2], d = row[3];
  switch (format) {
    case v1::BOX_FORMAT_XYWH: return {{a, b}, {a + c, b + d}};
    case v1::BOX_FORMAT_CXCYWH: return {{a - c / 2, b - d / 2}, {a + c / 2, b + d / 2}};
    default: return {{a, b}, {c, d}};
  }
}

std::array<double, kBoxNumbers> NumbersOf(const Box& box, v1::BoxFormat format) {
  const auto& [first, last] = box;
  const double width = last.x - first.x, height = last.y - first.y;
  switch (format) {
    case v1::BOX_FORMAT_XYWH: return {first.x, first.y, width, height};
    case v1::BOX_FORMAT_CXCYWH: return {(first.x + last.x) / 2, (first.y + last.y) / 2, width, height};
    default: return {first.x, first.y, last.x, last.y};
  }
}

// The displacements of each op that has some; none where no op has. They are made once for all rows.
using AllDisplacements = std::vector<std::optional<Displacements>>;

AllDisplacements DisplacementsOf(std::span<const OpParameters> ops, ImageSize size) {
  const auto has_some = [](const OpParameters& op) { return std::holds_alternative<ElasticParameters>(op); };
  if (std::none_of(ops.begin(), ops.end(), has_some)) return {};
  AllDisplacements all(ops.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    if (const auto* elastic = std::get_if<ElasticParameters>(&ops[i])) all[i].emplace(*elastic, size);
    size = SizeAfter(ops[i], size);
  }
  return all;
}

const Displacements* Find(const AllDisplacements& all, size_t op) {
  return all.empty() || !all[op].has_value() ? nullptr : &*all[op];
}

// Whether the op leaves out the box, where it lies before.
bool LeavesOut(const OpParameters& op, const Box& box) {
  const auto* crop = std::get_if<CropParameters>(&op);
  if (crop == nullptr || !crop->leaves_out_boxes) return false;
  const double x = 0.5 * (box.first.x + box.last.x) - static_cast<double>(crop->left);
  const double y = 0.5 * (box.first.y + box.last.y) - static_cast<double>(crop->top);
  return !(x > 0 && x < Width(crop->size) && y > 0 && y < Height(crop->size));
}

// Moves a box of an image of `size`. Returns whether no op leaves it out.
bool MoveBy(std::span<const OpParameters> ops, const AllDisplacements& displacements, ImageSize size, Box& box) {
  bool left = true;
  box = Cut(box, size);
  for (size_t i = 0; i < ops.size(); ++i) {
    left = left && !LeavesOut(ops[i], box);
    box = std::visit(MoveBox{box, size, Find(displacements, i)}, ops[i]);
    size = SizeAfter(ops[i], size);
    box = Cut(box, size);
  }
  return left;
}

void MoveBoxRow(std::span<const OpParameters> ops, const AllDisplacements& displacements, ImageSize size,
                v1::BoxFormat format, float* row) {
  Box box = ReadBox(row, format);
  MoveBy(ops, displacements, size, box);
  const auto numbers = NumbersOf(box, format);
  std::transform(numbers.begin(), numbers.end(), row, Rounded);
}

void MoveKeypoint(std::span<const OpParameters> ops, const AllDisplacements& displacements, ImageSize size,
                  float* row) {
  Point at = {row[0], row[1]};
  for (size_t i = 0; i < ops.size(); ++i) {
    at = std::visit(MovePoint{at, size, 1, Find(displacements, i)}, ops[i]);
    size = SizeAfter(ops[i], size);
  }
  row[0] = Rounded(at.x);
  row[1] = Rounded(at.y);
}

// How large boxes must be, and where they must lie.
struct Sanity {
  float min_size, min_area;
  ImageSize canvas;
  double slack;  // How far a side may lie beyond the border, as a part of the canvas.

  bool AreWithin(double first, double last, double extent) const {
    const double beyond = slack * extent;
    return first >= -beyond && last >= -beyond && first <= extent + beyond && last <= extent + beyond;
  }
  bool operator()(const Box& box) const {
    const float width = Rounded(box.last.x - box.first.x), height = Rounded(box.last.y - box.first.y);
    return width >= min_size && height >= min_size && Rounded(double{width} * height) >= min_area &&
           AreWithin(box.first.x, box.last.x, Width(canvas)) && AreWithin(box.first.y, box.last.y, Height(canvas));
  }
};

// Returns Sanity::slack. Where two numbers give a side, their rounding moves it by 2^-24 of the canvas at most.
double SlackOf(v1::BoxFormat format) {
  return format == v1::BOX_FORMAT_XYWH || format == v1::BOX_FORMAT_CXCYWH ? 0x1p-23 : 0;
}

}  // namespace

ImageSize MovePoints(std::span<const OpParameters> ops, ImageSize size, v1::FieldKind kind, v1::BoxFormat format,
                     std::span<float> values) {
  STOKER_CHECK(HasPoints(kind) && size.width > 0 && size.height > 0);
  const size_t row = kind == v1::FIELD_KIND_BOXES ? kBoxNumbers : kPointNumbers;
  STOKER_CHECK(values.size() % row == 0);
  const AllDisplacements displacements = values.empty() ? AllDisplacements() : DisplacementsOf(ops, size);
  for (size_t i = 0; i < values.size(); i += row)
    if (kind == v1::FIELD_KIND_BOXES)
      MoveBoxRow(ops, displacements, size, format, &values[i]);
    else
      MoveKeypoint(ops, displacements, size, &values[i]);
  for (const OpParameters& op : ops) size = SizeAfter(op, size);
  return size;
}

std::vector<LeftBox> BoxesLeft(std::span<const OpParameters> ops, ImageSize size, v1::BoxFormat format,
                               std::span<const float> boxes) {
  STOKER_CHECK(size.width > 0 && size.height > 0 && boxes.size() % kBoxNumbers == 0);
  const AllDisplacements displacements = boxes.empty() ? AllDisplacements() : DisplacementsOf(ops, size);
  std::vector<LeftBox> left;
  for (size_t i = 0; i < boxes.size(); i += kBoxNumbers) {
    auto box = ReadBox(&boxes[i], format);
    if (MoveBy(ops, displacements, size, box))
      left.push_back({static_cast<uint32_t>(i / kBoxNumbers), {box.first.x, box.first.y, box.last.x, box.last.y}});
  }
  return left;
}

std::vector<uint32_t> SaneBoxes(std::span<const float> boxes, v1::BoxFormat format, ImageSize canvas, double min_size,
                                double min_area) {
  STOKER_CHECK(boxes.size() % kBoxNumbers == 0);
  const Sanity is_sane = {Rounded(min_size), Rounded(min_area), canvas, SlackOf(format)};
  std::vector<uint32_t> rows;
  for (size_t i = 0; i < boxes.size(); i += kBoxNumbers)
    if (is_sane(ReadBox(&boxes[i], format))) rows.push_back(static_cast<uint32_t>(i / kBoxNumbers));
  return rows;
}

}  // namespace stoker
