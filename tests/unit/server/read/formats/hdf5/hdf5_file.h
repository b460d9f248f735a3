#ifndef STOKER_TESTS_UNIT_SERVER_READ_FORMATS_HDF5_HDF5_FILE_H_
#define STOKER_TESTS_UNIT_SERVER_READ_FORMATS_HDF5_HDF5_FILE_H_

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stoker {

// How a dataset's values are stored.
struct Hdf5Layout {
  std::vector<hsize_t> chunk;  // none: the values lie one after another
  bool is_compressed = false;  // by shuffle and deflate, with checksums
  int filter = 0;              // one more, that need not be known
  hsize_t written_rows = 0;    // the first so many alone are written; 0: all are
  std::string elsewhere;       // another file that has the values
};

// An HDF5 file in memory, written by libhdf5. Anything that goes wrong ends the test program.
class Hdf5File {
 public:
  Hdf5File();
  ~Hdf5File();

  // Adds a dataset of `type` and `shape`, whose values are the bytes of `values`; groups in its path are made.
  void Add(const std::string& path, hid_t type, std::vector<hsize_t> shape, const void* values,
           const Hdf5Layout& layout = {});

  // Adds whole numbers, one a row.
  void AddNumbers(const std::string& path, const std::vector<int64_t>& numbers, const Hdf5Layout& layout = {});

  // Adds bytes of variable length, one list a row.
  void AddLists(const std::string& path, const std::vector<std::string>& lists, const Hdf5Layout& layout = {});

  // Adds a link to another path of this file, or with `file` of another one.
  void AddLink(const std::string& path, const std::string& target, const std::string& file = "");

  // Returns the file's bytes.
  std::vector<uint8_t> Bytes();

 private:
  hid_t file_;
};

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_READ_FORMATS_HDF5_HDF5_FILE_H_
