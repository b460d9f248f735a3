#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_ROWS_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_ROWS_H_

#include "absl/status/statusor.h"
#include "client/device/device.h"
#include "common/fields/cast.h"

namespace stoker {

// Puts the rows of fields whose samples differ in size in order, in memory that the tensor owns: here the samples of a
// batch become one piece. Pure functions, thread-safe.

// Returns the rows of `field` as they came.
Tensor RowsTensor(const v1::Field& field, const HostBatch::Rows& rows);

// Returns the rows of `source` as `made` has them: each number x as x · scale + bias.
Tensor ScaledRowsTensor(const v1::Field& source, const v1::Field& made, const Scaling& scaling,
                        const HostBatch::Rows& rows);

// Returns the array that each sparse sample stands for, as `made` has it. `values` are the numbers at the places, of
// its type; without `data` each is 1, as float32.
Tensor DenseTensor(const v1::Field& places, const v1::Field& made, const Tensor& values, const HostBatch::Rows& rows);

// Writes `padded_rows` rows for each sample to `out`, as `program` says: its first ones as `made` has them, then its
// fill.
void PadRows(const v1::Field& source, const v1::Field& made, const DevicePipeline::FieldProgram& program,
             const HostBatch::Rows& rows, uint8_t* out);

// Returns where the rows of each sample begin, and the end of the last: int64, one more than there are samples.
Tensor OffsetsTensor(const v1::Field& field, const HostBatch::Rows& rows);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_ROWS_H_
