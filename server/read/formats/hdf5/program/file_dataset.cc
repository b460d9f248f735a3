#include "server/read/formats/hdf5/program/file_dataset.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "server/read/formats/hdf5/program/file_driver.h"

namespace stoker {
namespace {

constexpr char kOpen[] = "a dataset cannot be opened";
constexpr char kLayout[] = "a dataset's layout is damaged";

// The most that rows that are decompressed together may take, and the most of them that stay decompressed here, which
// are those of kBinary: there are few bytes a row, and the values lie elsewhere.
constexpr uint64_t kMostBlockBytes = uint64_t{1} << 30;
constexpr uint64_t kMostCacheBytes = uint64_t{16} << 20;

// Short rows of numbers that are converted to others are read so many bytes at a time.
constexpr uint64_t kConvertedBytes = uint64_t{64} << 10, kMostConvertedRowBytes = uint64_t{1} << 10;

// The most runs that a dataset's rows may lie in, where it is told where. To find one takes about 2 us.
constexpr uint64_t kMostRuns = uint64_t{1} << 21;

// A byte of a file stands for fewer rows than this, by any filter.
constexpr uint64_t kMostRowsOfByte = 1100;

Handle SpaceOf(hid_t dataset) { return {H5Dget_space(dataset), H5Sclose, kOpen}; }
Handle LayoutOf(hid_t dataset) { return {H5Dget_create_plist(dataset), H5Pclose, kLayout}; }

// Returns the name of a filter that this library lacks, or nothing.
std::string LackingFilter(hid_t layout) {
  const int filters = Checked(H5Pget_nfilters(layout), kLayout);
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0, config = 0;
    size_t values = 0;
    std::array<char, 64> name = {};
    const H5Z_filter_t filter = H5Pget_filter2(layout, static_cast<unsigned>(i), &flags, &values, nullptr,
                                               name.size() - 1, name.data(), &config);
    if (Checked(filter, kLayout) >= 0 && H5Zfilter_avail(filter) <= 0)
      return std::string(name.data()) + (name[0] == '\0' ? "" : " ") + "(" + std::to_string(filter) + ")";
  }
  return "";
}

}  // namespace

FileDataset::FileDataset(hid_t file, uint64_t file_size, std::string path) {
  column_.path = std::move(path);
  id_ = Handle(H5Dopen2(file, column_.path.c_str(), H5P_DEFAULT), H5Dclose, kOpen);
  column_.why = Describe(file_size);
  if (column_.why.empty()) Open(file);
  if (!column_.why.empty()) column_.type = ColumnType::kOther;
}

// Fills column_, and returns why it can be no field.
std::string FileDataset::Describe(uint64_t file_size) {
  const Handle stored(H5Dget_type(*id_), H5Tclose, kOpen), space = SpaceOf(*id_);
  type_ = ValueTypeOf(*stored);
  if (type_.type == ColumnType::kOther) return type_.why;
  column_.type = type_.type;
  column_.width = type_.width;
  std::array<hsize_t, H5S_MAX_RANK> extents = {};
  const int rank = H5Sget_simple_extent_type(*space) == H5S_SIMPLE
                       ? Checked(H5Sget_simple_extent_dims(*space, extents.data(), nullptr), kOpen)
                       : 0;
  if (rank == 0) return "is one value, and no row of samples";
  column_.rows = extents[0];
  extents_.assign(extents.begin(), extents.begin() + rank);
  for (int i = 1; i < rank; ++i) {
    if (extents[i] == 0) return "has rows of nothing";
    if (extents[i] > kMostBlockBytes / elements_) return "has rows that are too large";
    elements_ *= extents[i];
    column_.shape.push_back(static_cast<int64_t>(extents[i]));
  }
  if (elements_ * std::max<uint64_t>(type_.width, 1) > kMostBlockBytes) return "has rows that are too large";
  if (type_.type == ColumnType::kBinary) {
    if (elements_ != 1) return "has several texts or lists a row";
    column_.shape.clear();
  }
  return DescribeStorage(file_size);
}

std::string FileDataset::DescribeStorage(uint64_t file_size) {
  const Handle layout = LayoutOf(*id_);
  if (H5Pget_external_count(*layout) != 0) return "lies in other files";
  const H5D_layout_t kind = H5Pget_layout(*layout);
  if (kind == H5D_VIRTUAL) return "is virtual: its values lie in other datasets";
  if (const std::string filter = LackingFilter(*layout); !filter.empty())
    return "is compressed by " + filter + ", which this server's libhdf5 lacks: write it with gzip, or without";
  if (column_.rows / kMostRowsOfByte > file_size) return "claims more rows than its file can have";
  if (kind != H5D_CHUNKED || Checked(H5Pget_nfilters(*layout), kLayout) == 0) {
    const uint64_t row_bytes = elements_ * std::max<uint32_t>(type_.width, 1);
    if (!type_.is_stored && type_.type != ColumnType::kBinary && row_bytes <= kMostConvertedRowBytes)
      column_.block_rows = std::min(kConvertedBytes / row_bytes, column_.rows);
    return "";
  }
  std::array<hsize_t, H5S_MAX_RANK> chunk = {};
  const int rank = Checked(H5Pget_chunk(*layout, H5S_MAX_RANK, chunk.data()), kLayout);
  if (rank < 1 || chunk[0] == 0) throw std::runtime_error(kLayout);
  const uint64_t rows = std::min<uint64_t>(chunk[0], column_.rows);
  if (type_.type != ColumnType::kBinary) {
    const uint64_t row_bytes = elements_ * type_.width;
    if (rows > kMostBlockBytes / row_bytes)
      return "is compressed in chunks of " + std::to_string(rows) + " rows, which take more than 1 GiB";
    if (rows > 1) column_.block_rows = rows;
    return "";
  }
  const Handle stored(H5Dget_type(*id_), H5Tclose, kOpen);
  const uint64_t row_bytes = std::max<uint64_t>(H5Tget_size(*stored), 1);
  if (chunk[0] > kMostBlockBytes / row_bytes) return "is compressed in chunks of more than 1 GiB";
  cache_bytes_ = std::min<uint64_t>(chunk[0] * row_bytes, kMostCacheBytes);
  return "";
}

// Opens it once more, with a cache of the size that it needs. Chunks that are not compressed are not kept: of these
// what is wanted is read.
void FileDataset::Open(hid_t file) {
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, kOpen);
  Checked(H5Pset_chunk_cache(*access, 101, cache_bytes_, 0.75), kOpen);
  id_ = Handle();
  id_ = Handle(H5Dopen2(file, column_.path.c_str(), *access), H5Dclose, kOpen);
}

Hdf5Places FileDataset::Places(hid_t file) const {
  const Handle layout = LayoutOf(*id_), created(H5Fget_create_plist(file), H5Pclose, kLayout),
               stored(H5Dget_type(*id_), H5Tclose, kOpen);
  // Addresses are of the usual size, and count from the file's beginning.
  size_t address_bytes = 0, size_bytes = 0;
  hsize_t user_bytes = 0;
  Checked(H5Pget_sizes(*created, &address_bytes, &size_bytes), kLayout);
  Checked(H5Pget_userblock(*created, &user_bytes), kLayout);
  const H5D_layout_t kind = H5Pget_layout(*layout);
  if (!column_.why.empty() || !type_.is_stored || column_.rows == 0 || address_bytes != 8 || size_bytes != 8 ||
      user_bytes != 0 || Checked(H5Pget_nfilters(*layout), kLayout) != 0)
    return {};
  Hdf5Places places;
  places.are_references = type_.form == ValueType::Form::kLists;
  places.row_bytes = elements_ * H5Tget_size(*stored);
  if (places.are_references) places.row_bytes = kReferenceBytes;
  bool is_whole = true;  // What was never written has no place.
  if (kind == H5D_CONTIGUOUS) {
    places.run_rows = column_.rows;
    places.runs.push_back(H5Dget_offset(*id_));
    is_whole = places.runs.back() != HADDR_UNDEF;
  } else if (kind == H5D_CHUNKED) {
    std::array<hsize_t, H5S_MAX_RANK> chunk = {};
    const int rank = Checked(H5Pget_chunk(*layout, H5S_MAX_RANK, chunk.data()), kLayout);
    const bool has_whole_rows = static_cast<size_t>(rank) == extents_.size() && chunk[0] > 0 &&
                                std::equal(extents_.begin() + 1, extents_.end(), chunk.begin() + 1);
    if (!has_whole_rows || column_.rows / chunk[0] >= kMostRuns) return {};
    places.run_rows = chunk[0];
    const Handle space = SpaceOf(*id_);
    std::array<hsize_t, H5S_MAX_RANK> first = {}, one = {};
    one.fill(1);
    ValueProbe probe;
    for (; first[0] < column_.rows && is_whole; first[0] += chunk[0]) {
      std::string zeros;
      Checked(H5Sselect_hyperslab(*space, H5S_SELECT_SET, first.data(), nullptr, one.data(), nullptr), kLayout);
      ReadValues(*id_, type_, *space, 1, 1, kConvertedBytes, zeros);
      places.runs.push_back(probe.Take());
      is_whole = places.runs.back() != HADDR_UNDEF;
    }
  }
  return is_whole ? places : Hdf5Places();
}

DecodedColumns::Column FileDataset::Read(uint64_t begin, uint64_t count, uint64_t most_bytes,
                                         std::string& bytes) const {
  if (!column_.why.empty()) throw std::runtime_error(column_.why);
  if (begin > column_.rows || count > column_.rows - begin || count > kMostBlockBytes / elements_)
    throw std::runtime_error("it has fewer rows than were asked for");
  const Handle space = SpaceOf(*id_);
  std::array<hsize_t, H5S_MAX_RANK> first = {}, extents = {};
  Checked(H5Sget_simple_extent_dims(*space, extents.data(), nullptr), kOpen);
  first[0] = begin;
  extents[0] = count;
  Checked(H5Sselect_hyperslab(*space, H5S_SELECT_SET, first.data(), nullptr, extents.data(), nullptr), kOpen);
  DecodedColumns::Column column = ReadValues(*id_, type_, *space, count, elements_, most_bytes, bytes);
  column.shape = column_.shape;
  return column;
}

}  // namespace stoker
