#ifndef STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_FILES_H_
#define STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_FILES_H_

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "server/read/formats/hdf5/messages.h"
#include "server/read/formats/hdf5/program/file_dataset.h"
#include "server/read/formats/hdf5/program/handle.h"

namespace stoker {

// The files that were used last, which stay open with what the library knows of them.
class Files {
 public:
  // Returns the answer to a request: what the file has, where its rows lie, or the values that are asked for. Throws a
  // std::exception, after which the file is closed.
  std::string Answer(const Hdf5Request& request);

 private:
  struct File {
    uint64_t number = 0;
    uint64_t size = 0;
    Handle id;
    std::map<std::string, FileDataset> datasets;
  };

  File& Use(const Hdf5Request& request);
  static std::vector<Hdf5Column> Describe(const File& file);
  static const FileDataset& DatasetAt(File& file, const std::string& path);
  static std::vector<Hdf5Places> PlacesOf(File& file, const std::vector<std::string>& paths);
  static std::string Read(File& file, const Hdf5Request& request);

  std::list<File> files_;  // the last used first
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_FILES_H_
