// Two ops of one's own, which a server loads: docs/own-ops.md. Build them with
//
//   c++ -std=c++17 -O2 -shared -fPIC -I /usr/local/include -o libfog.so fog.cc
#include <stoker/plugin/stoker_op.hpp>

// Blends each pixel with white, by up to `amount`, and more so the higher it stands in the image.
struct Fog {
  static constexpr auto kName = "fog";
  static constexpr uint32_t kVersion = 1;
  static constexpr auto kSummary = "blends with white, more so at the top";
  double amount = 0.5;

  template <typename Visit>
  void Arguments(Visit&& visit) {
    visit("amount", amount);
  }

  const char* Check() const { return amount >= 0 && amount <= 1 ? nullptr : "amount must be from 0 to 1"; }

  void Apply(const stoker::op::Image& in, stoker::op::Image& out, stoker::op::Draws& draws) const {
    // Whole numbers make the same pixels on every machine.
    const auto most = static_cast<int64_t>(256 * draws.Uniform(0, amount));
    for (int64_t y = 0; y < in.height; ++y) {
      const int64_t white = most * (in.height - y) / in.height;
      const uint8_t* from = stoker::op::PixelAt(in, y, 0);
      uint8_t* to = stoker::op::PixelAt(out, y, 0);
      for (int64_t i = 0; i < 3 * in.width; ++i)
        to[i] = static_cast<uint8_t>((from[i] * (256 - white) + 255 * white) >> 8);
    }
  }
};

// Halves an image: each pixel is the mean of four.
struct Halve {
  static constexpr auto kName = "halve";
  static constexpr uint32_t kVersion = 1;
  static constexpr auto kSummary = "makes an image of half the height and width";

  template <typename Visit>
  void Arguments(Visit&&) {}

  void Size(int64_t& height, int64_t& width) const {
    height /= 2;
    width /= 2;
  }

  void Apply(const stoker::op::Image& in, stoker::op::Image& out, stoker::op::Draws&) const {
    for (int64_t y = 0; y < out.height; ++y)
      for (int64_t x = 0; x < out.width; ++x)
        for (int64_t channel = 0; channel < 3; ++channel) {
          const uint8_t* above = stoker::op::PixelAt(in, 2 * y, 2 * x) + channel;
          const uint8_t* below = stoker::op::PixelAt(in, 2 * y + 1, 2 * x) + channel;
          stoker::op::PixelAt(out, y, x)[channel] =
              static_cast<uint8_t>((above[0] + above[3] + below[0] + below[3] + 2) / 4);
        }
  }
};

STOKER_OPS(Fog, Halve)
