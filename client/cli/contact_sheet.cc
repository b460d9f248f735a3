#include "client/cli/contact_sheet.h"

#include <algorithm>
#include <utility>

#include "client/cli/glyphs.h"
#include "common/check.h"
#include "common/fields/schema.h"

namespace stoker {
namespace {

constexpr int64_t kChannels = 3;
constexpr int64_t kColumns = 8;
constexpr int64_t kMargin = 4;            // pixels
constexpr int64_t kMostTilePixels = 512;  // pixels of a tile's longer side
constexpr int64_t kMostLines = 3;         // that one caption takes
constexpr uint8_t kBackground = 32, kInk = 224;

// Refers to the pixels of one image.
struct Image {
  const uint8_t* pixels;
  int64_t height, width;

  uint8_t At(int64_t y, int64_t x, int64_t channel) const { return pixels[(y * width + x) * kChannels + channel]; }
};

// Returns the mean of a square of `side` × `side` pixels whose upper left one is (top, left), as far as it lies in the
// image.
uint8_t Mean(const Image& image, int64_t top, int64_t left, int64_t side, int64_t channel) {
  const int64_t bottom = std::min(top + side, image.height), right = std::min(left + side, image.width);
  int64_t sum = 0;
  for (int64_t y = top; y < bottom; ++y)
    for (int64_t x = left; x < right; ++x) sum += image.At(y, x, channel);
  const int64_t area = (bottom - top) * (right - left);
  return static_cast<uint8_t>((sum + area / 2) / area);
}

// Draws the image, `shrink` times smaller, into the sheet at (top, left).
void Place(const Image& image, int64_t shrink, int64_t top, int64_t left, Picture& sheet) {
  for (int64_t y = 0; y * shrink < image.height; ++y) {
    uint8_t* out = sheet.pixels.data() + ((top + y) * sheet.width + left) * kChannels;
    for (int64_t x = 0; x * shrink < image.width; ++x)
      for (int64_t c = 0; c < kChannels; ++c) *out++ = Mean(image, y * shrink, x * shrink, shrink, c);
  }
}

// Returns the label of pixel number `i` of image number `number`.
int64_t LabelAt(const ImageMap& map, int64_t number, int64_t i, int64_t pixels) {
  if (map.kind != v1::FIELD_KIND_BINARY_MAP)
    return WholeNumberAt(map.values.data, map.values.dtype, number * pixels + i);
  const auto* bits = static_cast<const uint8_t*>(map.values.data) + number * ((pixels + 7) / 8);
  return bits[i / 8] >> (7 - i % 8) & 1;
}

// Returns a channel of the color that shows a label: colors of neighboring labels differ.
int ColorOf(int64_t label, int channel) {
  const uint64_t color = static_cast<uint64_t>(label) * 0x9e3779b97f4a7c15;
  return static_cast<int>(color >> (40 + 8 * channel) & 0xff);
}

// Returns the pixels of the image with the map laid over it, half and half.
std::vector<uint8_t> Overlaid(const Image& image, const ImageMap& map, int64_t number) {
  const int64_t pixels = image.height * image.width;
  std::vector<uint8_t> overlaid(image.pixels, image.pixels + pixels * kChannels);
  for (int64_t i = 0; i < pixels; ++i) {
    const int64_t label = LabelAt(map, number, i, pixels);
    if (label == 0) continue;
    for (int c = 0; c < kChannels; ++c) {
      uint8_t& value = overlaid[i * kChannels + c];
      value = static_cast<uint8_t>((value + ColorOf(label, c) + 1) / 2);
    }
  }
  return overlaid;
}

// Draws into the pixels of one image.
class Drawing {
 public:
  explicit Drawing(const Image& image)
      : height_(image.height),
        width_(image.width),
        pixels_(image.pixels, image.pixels + image.height * image.width * kChannels),
        stroke_(static_cast<int>(1 + std::max(height_, width_) / 256)) {}

  // Fills from (left, top) up to, but without, (right, bottom), as far as it lies in the image.
  void Fill(double left, double top, double right, double bottom, int64_t color) {
    const auto bound = [](double x, int64_t most) {  // Also of what is no number.
      return x >= 0 ? static_cast<int64_t>(std::min(x, static_cast<double>(most))) : 0;
    };
    for (int64_t y = bound(top, height_); y < bound(bottom, height_); ++y)
      for (int64_t x = bound(left, width_); x < bound(right, width_); ++x)
        for (int c = 0; c < kChannels; ++c)
          pixels_[(y * width_ + x) * kChannels + c] = static_cast<uint8_t>(ColorOf(color, c));
  }

  // Draws the border of a box, inside of it.
  void Outline(double left, double top, double right, double bottom, int64_t color) {
    Fill(left, top, right, std::min(top + stroke_, bottom), color);
    Fill(left, std::max(bottom - stroke_, top), right, bottom, color);
    Fill(left, top, std::min(left + stroke_, right), bottom, color);
    Fill(std::max(right - stroke_, left), top, right, bottom, color);
  }

  void Dot(double x, double y, int64_t color) {
    Fill(x - stroke_, y - stroke_, x + stroke_ + 1, y + stroke_ + 1, color);
  }

  std::vector<uint8_t> Take() { return std::move(pixels_); }

 private:
  const int64_t height_, width_;
  std::vector<uint8_t> pixels_;
  const int stroke_;  // pixels
};

void DrawBox(const float* row, v1::BoxFormat format, int64_t color, Drawing& drawing) {
  const double a = row[0], b = row[1], c = row[2], d = row[3];
  switch (format) {
    case v1::BOX_FORMAT_XYWH: return drawing.Outline(a, b, a + c, b + d, color);
    case v1::BOX_FORMAT_CXCYWH: return drawing.Outline(a - c / 2, b - d / 2, a + c / 2, b + d / 2, color);
    default: return drawing.Outline(a, b, c, d, color);
  }
}

// Returns the pixels of the image with its boxes or keypoints drawn on it.
std::vector<uint8_t> Marked(const Image& image, const ImagePoints& points, int64_t number) {
  Drawing drawing(image);
  const auto* offsets = static_cast<const int64_t*>(points.offsets.data);
  int64_t numbers = 1;  // of a row
  for (size_t i = 1; i < points.rows.shape.size(); ++i) numbers *= points.rows.shape[i];
  for (int64_t row = offsets[number]; row < offsets[number + 1]; ++row) {
    const float* values = static_cast<const float*>(points.rows.data) + row * numbers;
    const int64_t color = row - offsets[number] + 1;
    if (points.kind == v1::FIELD_KIND_BOXES) {
      DrawBox(values, points.box_format, color, drawing);
    } else {
      for (int64_t i = 0; i < numbers; i += 2) drawing.Dot(values[i], values[i + 1], color);
    }
  }
  return drawing.Take();
}

// Writes the line into the sheet from (top, left) on, where it has room.
void WriteLine(const std::string& line, int64_t top, int64_t left, Picture& sheet) {
  for (const char character : line) {
    for (int64_t y = 0; y < kGlyphHeight; ++y)
      for (int64_t x = 0; x < kGlyphWidth; ++x)
        if (GlyphHas(character, y, x))
          std::fill_n(&sheet.pixels[((top + y) * sheet.width + left + x) * kChannels], kChannels, kInk);
    left += kGlyphStepX;
  }
}

// Returns the lines below each of the first `count` images, none wider than `width` pixels.
std::vector<std::vector<std::string>> LinesWithin(int64_t width, std::span<const std::vector<std::string>> captions,
                                                  int64_t count) {
  std::vector<std::vector<std::string>> lines(std::min<size_t>(count, captions.size()));
  for (size_t image = 0; image < lines.size(); ++image)
    for (const std::string& caption : captions[image])
      for (std::string& line : Wrapped(caption, width / kGlyphStepX, kMostLines))
        lines[image].push_back(std::move(line));
  return lines;
}

// Returns the pixels that the lines take below their images.
int64_t HeightOf(std::span<const std::vector<std::string>> lines) {
  size_t most = 0;
  for (const std::vector<std::string>& of_image : lines) most = std::max(most, of_image.size());
  return most == 0 ? 0 : static_cast<int64_t>(most) * kGlyphStepY + kMargin / 2;
}

}  // namespace

const Tensor* FindImages(const std::vector<Tensor>& fields) {
  for (const Tensor& field : fields)
    if (field.dtype == v1::DTYPE_UINT8 && (field.shape.size() == 4 || field.shape.size() == 5) &&
        field.shape.back() == kChannels)
      return &field;
  return nullptr;
}

Overlays FindOverlays(const Tensor& images, const std::vector<Tensor>& fields,
                      const google::protobuf::RepeatedPtrField<v1::Field>& sent) {
  Overlays overlays;
  if (images.shape.size() != 4) return overlays;
  const auto fields_sent = static_cast<size_t>(sent.size());
  size_t offsets = fields_sent;  // The next field whose samples differ in size has its offsets there.
  for (size_t i = 0; i < fields_sent; ++i) {
    const v1::Field& field = sent[static_cast<int>(i)];
    const std::vector<int64_t>& shape = fields[i].shape;
    if (IsMap(field.kind()) && shape.size() == 3 && std::equal(shape.begin(), shape.end(), images.shape.begin()))
      overlays.maps.push_back({fields[i], field.kind()});
    if (HasPoints(field.kind()))
      overlays.points.push_back({fields[i], fields[offsets], field.kind(), field.box_format()});
    if (IsVariable(field.kind())) ++offsets;
  }
  return overlays;
}

Picture ContactSheet(const Tensor& images, int64_t count, const Overlays& overlays,
                     std::span<const std::vector<std::string>> captions) {
  STOKER_CHECK(images.dtype == v1::DTYPE_UINT8 && images.shape.size() >= 4 && images.shape.back() == kChannels);
  const size_t axes = images.shape.size();
  const int64_t all = axes == 5 ? images.shape[0] * images.shape[1] : images.shape[0];
  const int64_t height = images.shape[axes - 3], width = images.shape[axes - 2];
  const int64_t shrink = (std::max(height, width) - 1) / kMostTilePixels + 1;
  const int64_t tile_y = (height - 1) / shrink + 1, step_x = (width - 1) / shrink + 1 + kMargin;
  const auto maps = static_cast<int64_t>(overlays.maps.size()), points = static_cast<int64_t>(overlays.points.size());
  const int64_t tiles_each = 1 + maps + points + std::ssize(overlays.pictures),
                tiles = std::min(count, all) * tiles_each;
  const auto lines = LinesWithin(tiles_each * step_x - kMargin, captions, axes == 5 ? 0 : std::min(count, all));
  const int64_t step_y = tile_y + HeightOf(lines) + kMargin;
  const int64_t most_columns = std::max<int64_t>(kColumns / tiles_each, 1) * tiles_each;
  const int64_t columns = std::clamp<int64_t>(tiles, 1, most_columns),
                rows = std::max<int64_t>(1, (tiles - 1) / columns + 1);

  Picture sheet{.height = rows * step_y + kMargin, .width = columns * step_x + kMargin};
  sheet.pixels.assign(sheet.height * sheet.width * kChannels, kBackground);
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t number = tile / tiles_each, overlay = tile % tiles_each - 1;
    Image image = {static_cast<const uint8_t*>(images.data) + number * height * width * kChannels, height, width};
    std::vector<uint8_t> drawn;
    if (overlay >= maps + points) {
      image.pixels = static_cast<const uint8_t*>(overlays.pictures[overlay - maps - points].data) +
                     number * height * width * kChannels;
    } else if (overlay >= 0) {
      drawn = overlay < maps ? Overlaid(image, overlays.maps[overlay], number)
                             : Marked(image, overlays.points[overlay - maps], number);
      image.pixels = drawn.data();
    }
    const int64_t top = kMargin + tile / columns * step_y, left = kMargin + tile % columns * step_x;
    Place(image, shrink, top, left, sheet);
    if (overlay >= 0 || number >= std::ssize(lines)) continue;
    for (int64_t line = 0; line < std::ssize(lines[number]); ++line)
      WriteLine(lines[number][line], top + tile_y + kMargin / 2 + line * kGlyphStepY, left, sheet);
  }
  return sheet;
}

}  // namespace stoker
