#include "client/device/host/host_maps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/device/host/host_steps.h"
#include "client/device/pixel_arithmetic.h"
#include "common/fields/schema.h"

namespace stoker {

void MoveMaps(const DevicePipeline& pipeline, const HostBatch& batch, int field, void* out) {
  const v1::Field& source = pipeline.source_fields()[field];
  const DevicePipeline::ImageProgram& program = pipeline.image();
  const bool binary = source.kind() == v1::FIELD_KIND_BINARY_MAP;
  const int64_t value_bytes = binary ? 1 : static_cast<int64_t>(ByteSize(source.dtype()));
  const int64_t in_values = program.height * program.width, out_values = program.out.height * program.out.width;
  const int64_t row_bytes = binary ? (in_values + 7) / 8 : in_values * value_bytes;
  std::vector<uint8_t> map, moved;
  const uint8_t* in = batch.fields[field].data();
  for (int64_t row = 0; row < batch.rows(); ++row, in += row_bytes) {
    map.assign(in, in + (binary ? 0 : row_bytes));
    for (int64_t i = 0; binary && i < in_values; ++i) map.push_back(in[i / 8] >> (7 - i % 8) & 1);
    const SampleDraw draw = pipeline.Draw(batch.seed, batch.epoch, batch.positions[row]);
    for (size_t i = 0; i < program.map_moves.size(); ++i) {
      const DeviceStep& move = program.map_moves[i];
      moved.resize(move.out.height * move.out.width * value_bytes);
      const GatherDraw& gather = draw.map_moves[i];
      RunGather(binary ? ForBinaryMap(gather) : gather, move, value_bytes, map.data(), moved.data());
      std::swap(map, moved);
    }
    if (binary) {
      std::copy_n(map.data(), out_values, static_cast<uint8_t*>(out) + row * out_values);
    } else {
      for (int64_t i = 0; i < out_values; ++i)
        static_cast<int64_t*>(out)[row * out_values + i] = WholeNumberAt(map.data(), source.dtype(), i);
    }
  }
}

}  // namespace stoker
