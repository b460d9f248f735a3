#ifndef STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_VALUES_H_
#define STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_VALUES_H_

#include <hdf5.h>

#include <cstdint>
#include <string>

#include "server/read/formats/hdf5/program/handle.h"
#include "server/read/rows/columns.h"

namespace stoker {

// How the elements of a dataset are read.
struct ValueType {
  enum class Form {
    kNumbers,
    kLists,   // of bytes, each of a length of its own
    kTexts,   // of a fixed size, with zeros behind them that do not count
    kOpaque,  // bytes of a fixed size
  };
  Form form = Form::kNumbers;
  ColumnType type = ColumnType::kOther;
  uint32_t width = 0;        // as in Hdf5Column
  bool is_unsigned = false;  // of 64 bits, which kInt64 does not hold all of
  bool is_stored = false;    // elements lie in files as they are read, or the references to their bytes do
  std::string why;           // of kOther
  Handle memory;             // the library's type of what is read, unless kOther
};

// Says how elements of `stored`, a dataset's type, are read. Throws what Checked does.
ValueType ValueTypeOf(hid_t stored);

// Reads the rows that are selected in `file_space`, of `count` rows with `elements` each, as one column of an answer,
// whose bytes go to `bytes`. Throws beyond `most_bytes`, and what Checked does.
DecodedColumns::Column ReadValues(hid_t dataset, const ValueType& type, hid_t file_space, uint64_t count,
                                  uint64_t elements, uint64_t most_bytes, std::string& bytes);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_VALUES_H_
