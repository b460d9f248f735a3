#ifndef STOKER_SERVER_READ_FORMATS_HDF5_GLOBAL_HEAP_H_
#define STOKER_SERVER_READ_FORMATS_HDF5_GLOBAL_HEAP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "server/read/formats/hdf5/messages.h"
#include "server/read/stores/store.h"

namespace stoker {

// HDF5's global heap, which has the values of datasets whose values differ in length. It consists of collections of
// objects, of which a value is one; a dataset's rows are references to them. See "Level 1E - Global Heap" of the HDF5
// File Format Specification, version 3.0, here with addresses and lengths of 8 bytes. All numbers are little-endian.
//
//   reference    u32 length of the value, u64 where the collection begins, u32 number of the object in it
//   collection   "GCOL", u8 version 1, 3 unused bytes, u64 its size with these 16 bytes, then objects
//   object       u16 its number, 6 other bytes, u64 its size, its bytes, and unused ones up to a multiple of 8;
//                number 0 is the space that is left
struct HeapReference {
  uint32_t size = 0;        // bytes of the value
  uint64_t collection = 0;  // where it begins in the file
  uint32_t object = 0;
};

HeapReference ParseHeapReference(std::span<const uint8_t, kReferenceBytes> bytes);

// Replaces `bytes` by the object that a reference means, of a file that may hold anything: no more than 65,535 objects
// are looked at. DataLoss where there is none of that size; else the store's errors.
absl::Status ReadHeapObject(Store& store, const ObjectInfo& file, const HeapReference& reference,
                            std::vector<uint8_t>& bytes);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_HDF5_GLOBAL_HEAP_H_
