#ifndef STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_FILE_DRIVER_H_
#define STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_FILE_DRIVER_H_

#include <hdf5.h>

#include <cstdint>

namespace stoker {

// A driver for libhdf5 whose files are what the server lets the child fetch. It reads only. Small reads take pages of a
// file's own cache of 1 MiB, since the library asks for metadata by tens of bytes.

// Returns the driver, which it registers at the first call.
hid_t FileDriver();

// Has H5Fopen with `access` open the server's file `number`, of `size` bytes.
void UseFile(hid_t access, uint64_t number, uint64_t size);

// Says which file the server's request is about. Reads of any other fail.
void SetFetchedFile(uint64_t number);

// While it lives, values that the library reads are zeros, and where they lie is noted. The library itself tells where
// a chunk lies only by going through all chunks for each.
class ValueProbe {
 public:
  ValueProbe();
  ~ValueProbe();

  // Returns where the first value lies that was read since the last call, or HADDR_UNDEF where none was.
  haddr_t Take();
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_FILE_DRIVER_H_
