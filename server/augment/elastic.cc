#include "server/augment/elastic.h"

#include <algorithm>
#include <array>

#include "common/check.h"
#include "common/identity/draws.h"
#include "common/identity/elementary.h"
#include "common/ops/elastic.h"
#include "server/augment/gather.h"
#include "server/augment/padding.h"

namespace stoker {
namespace {

using Field = std::vector<float>;

// Returns noise from −1 to 1 for each pixel, from these 16 of the 32 bits that it has.
Field DrawNoise(const DrawKey& key, ImageSize size, int shift) {
  Field noise(size.height * size.width);
  std::array<uint32_t, 1024> words;
  Draws draws(key);
  for (size_t begin = 0; begin < noise.size(); begin += words.size()) {
    draws.Fill(words);
    const size_t count = std::min(words.size(), noise.size() - begin);
    for (size_t i = 0; i < count; ++i)
      noise[begin + i] = (static_cast<float>(words[i] >> shift & 0xffff) + 0.5F) * 0x1p-15F - 1;
  }
  return noise;
}

// Returns the weights of the pixels up to ElasticReach to either side; their sum is 1, but for rounding.
std::vector<float> GaussianWeights(double sigma) {
  if (sigma == 0) return {1};
  const int reach = ElasticReach(sigma);
  std::vector<double> weights(2 * reach + 1);
  double sum = 0;
  for (int i = -reach; i <= reach; ++i) sum += weights[i + reach] = DeterministicExp(-0.5 * (i / sigma) * (i / sigma));
  std::vector<float> rounded(weights.size());
  std::transform(weights.begin(), weights.end(), rounded.begin(),
                 [sum](double weight) { return static_cast<float>(weight / sum); });
  return rounded;
}

// Adds `weight` times `in` to `out`. Each sum has its terms in one order, so that vectors change no bit of it.
void AddWeighted(float weight, const float* in, int64_t count, float* out) {
  for (int64_t x = 0; x < count; ++x) out[x] += weight * in[x];
}

// Smooths the columns of `in` into `out`, which is 0.
void SmoothDown(const Field& in, ImageSize size, const std::vector<float>& weights, const Interrupt& interrupt,
                Field& out) {
  const int64_t reach = std::ssize(weights) / 2;
  for (int64_t y = 0; y < size.height && !InterruptedAt(y, interrupt); ++y)
    for (int64_t i = -reach; i <= reach; ++i)
      AddWeighted(weights[i + reach], &in[Reflected(y + i, size.height) * size.width], size.width,
                  &out[y * size.width]);
}

// Smooths the rows of `field`, and multiplies them by `length`.
void SmoothAcross(Field& field, ImageSize size, const std::vector<float>& weights, float length,
                  const Interrupt& interrupt) {
  const int64_t reach = std::ssize(weights) / 2;
  Field wide(size.width + 2 * reach), sums(size.width);
  for (int64_t y = 0; y < size.height && !InterruptedAt(y, interrupt); ++y) {
    float* const row = &field[y * size.width];
    for (int64_t x = -reach; x < size.width + reach; ++x) wide[x + reach] = row[Reflected(x, size.width)];
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (int64_t i = 0; i <= 2 * reach; ++i) AddWeighted(weights[i], &wide[i], size.width, sums.data());
    std::transform(sums.begin(), sums.end(), row, [length](float sum) { return sum * length; });
  }
}

Field Smoothed(const Field& noise, const ElasticParameters& elastic, double length, ImageSize size,
               const Interrupt& interrupt) {
  Field field(noise.size());
  SmoothDown(noise, size, GaussianWeights(elastic.sigma_down), interrupt, field);
  SmoothAcross(field, size, GaussianWeights(elastic.sigma_across), static_cast<float>(length), interrupt);
  return field;
}

}  // namespace

Displacements::Displacements(const ElasticParameters& elastic, ImageSize size, const Interrupt& interrupt)
    : size_(size) {
  STOKER_CHECK(size.width > ElasticReach(elastic.sigma_across) && size.height > ElasticReach(elastic.sigma_down));
  across_ = Smoothed(DrawNoise(elastic.key, size, 0), elastic, elastic.length_across, size, interrupt);
  down_ = Smoothed(DrawNoise(elastic.key, size, 16), elastic, elastic.length_down, size, interrupt);
}

void ApplyElastic(const ElasticParameters& elastic, const ImageView& in, uint8_t* out, const Interrupt& interrupt) {
  const Displacements displacements(elastic, in.size, interrupt);
  const auto for_each_position = [&](const auto& at) {
    for (int64_t y = 0; y < in.size.height && !InterruptedAt(y, interrupt); ++y)
      for (int64_t x = 0; x < in.size.width; ++x)
        at(static_cast<double>(x) + 0.5 + displacements.Across(y, x),
           static_cast<double>(y) + 0.5 + displacements.Down(y, x));
  };
  if (elastic.interpolation == v1::INTERPOLATION_BILINEAR)
    GatherBilinear(elastic.fill, in, out, for_each_position);
  else
    GatherNearest(elastic.fill, in, out, for_each_position);
}

}  // namespace stoker
