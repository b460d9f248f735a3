#include "server/read/formats/hdf5/program/files.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include "server/read/formats/hdf5/program/file_driver.h"

namespace stoker {
namespace {

// Files that are open at once. Each takes 1 MiB of pages, the metadata below, and chunks of its datasets.
constexpr size_t kMostFiles = 16;
constexpr size_t kSieveBytes = size_t{4} << 10;
constexpr size_t kMostMetadataBytes = size_t{8} << 20;

constexpr size_t kMostDatasets = 4096;  // of a file

constexpr char kFile[] = "it cannot be opened";

Handle OpenFile(uint64_t number, uint64_t size) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, kFile);
  UseFile(*access, number, size);
  Checked(H5Pset_fclose_degree(*access, H5F_CLOSE_STRONG), kFile);
  // Rows are read in any order: of what lies beside a row's number or reference little is read with it.
  Checked(H5Pset_sieve_buf_size(*access, kSieveBytes), kFile);
  H5AC_cache_config_t metadata = {};
  metadata.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  Checked(H5Pget_mdc_config(*access, &metadata), kFile);
  metadata.max_size = std::max(kMostMetadataBytes, metadata.initial_size);
  Checked(H5Pset_mdc_config(*access, &metadata), kFile);
  // The name says which driver's file it is, and an absolute one has the library look for no folder.
  return {H5Fopen(("/" + std::to_string(number)).c_str(), H5F_ACC_RDONLY, *access), H5Fclose, kFile};
}

// What a walk over a file's links finds.
struct Walk {
  std::vector<std::string> datasets;
  std::vector<Hdf5Column> others;
  std::exception_ptr error;
};

herr_t Meet(hid_t root, const char* name, const H5L_info_t* link, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  try {
    if (walk.datasets.size() + walk.others.size() >= kMostDatasets)
      throw std::runtime_error("it has more than " + std::to_string(kMostDatasets) + " datasets");
    if (link->type != H5L_TYPE_HARD) {
      Hdf5Column other;
      other.path = name;
      other.why = link->type == H5L_TYPE_SOFT ? "is a link: name what it leads to" : "is a link to another file";
      walk.others.push_back(std::move(other));
      return 0;
    }
    const Handle object(H5Oopen(root, name, H5P_DEFAULT), H5Oclose, "an object cannot be opened");
    if (H5Iget_type(*object) == H5I_DATASET) walk.datasets.push_back(name);
    return 0;
  } catch (...) {
    walk.error = std::current_exception();
    return -1;
  }
}

}  // namespace

std::string Files::Answer(const Hdf5Request& request) {
  SetFetchedFile(request.file);
  File& file = Use(request);
  try {
    if (request.paths.empty()) return SerializeHdf5Columns(Describe(file));
    return request.asks_places ? SerializePlaces(PlacesOf(file, request.paths)) : Read(file, request);
  } catch (...) {
    files_.pop_front();
    throw;
  }
}

Files::File& Files::Use(const Hdf5Request& request) {
  const auto found = std::find_if(files_.begin(), files_.end(), [&](const File& file) {
    return file.number == request.file && file.size == request.file_size;
  });
  if (found != files_.end()) {
    files_.splice(files_.begin(), files_, found);
    return files_.front();
  }
  if (files_.size() == kMostFiles) files_.pop_back();
  File file;
  file.number = request.file;
  file.size = request.file_size;
  file.id = OpenFile(file.number, file.size);
  files_.push_front(std::move(file));
  return files_.front();
}

std::vector<Hdf5Column> Files::Describe(const File& file) {
  Walk walk;
  const herr_t walked = H5Lvisit(*file.id, H5_INDEX_NAME, H5_ITER_INC, Meet, &walk);
  if (walk.error != nullptr) std::rethrow_exception(walk.error);
  Checked(walked, "its groups cannot be read");
  std::vector<Hdf5Column> columns = std::move(walk.others);
  for (const std::string& path : walk.datasets) columns.push_back(FileDataset(*file.id, file.size, path).column());
  std::sort(columns.begin(), columns.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return columns;
}

const FileDataset& Files::DatasetAt(File& file, const std::string& path) {
  auto dataset = file.datasets.find(path);
  if (dataset == file.datasets.end())
    dataset = file.datasets.emplace(path, FileDataset(*file.id, file.size, path)).first;
  return dataset->second;
}

std::vector<Hdf5Places> Files::PlacesOf(File& file, const std::vector<std::string>& paths) {
  std::vector<Hdf5Places> places;
  places.reserve(paths.size());
  for (const std::string& path : paths) places.push_back(DatasetAt(file, path).Places(*file.id));
  return places;
}

std::string Files::Read(File& file, const Hdf5Request& request) {
  DecodedColumns columns;
  columns.rows = request.count;
  std::vector<std::string> values(request.paths.size());
  uint64_t left = request.most_bytes;
  for (size_t i = 0; i < request.paths.size(); ++i) {
    columns.columns.push_back(DatasetAt(file, request.paths[i]).Read(request.begin, request.count, left, values[i]));
    left -= std::min<uint64_t>(left, values[i].size());
  }
  for (size_t i = 0; i < values.size(); ++i) columns.columns[i].bytes = values[i];
  return SerializeColumns(columns);
}

}  // namespace stoker
