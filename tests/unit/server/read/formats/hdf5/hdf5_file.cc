#include "tests/unit/server/read/formats/hdf5/hdf5_file.h"

#include "common/check.h"

namespace stoker {
namespace {

hid_t Opened(hid_t id) {
  STOKER_CHECK(id >= 0);
  return id;
}

void Done(herr_t result) { STOKER_CHECK(result >= 0); }

}  // namespace

Hdf5File::Hdf5File() {
  const hid_t access = Opened(H5Pcreate(H5P_FILE_ACCESS));
  Done(H5Pset_fapl_core(access, 1 << 16, false));
  static int files = 0;  // The library tells files apart by their names.
  const std::string name = "in-memory-" + std::to_string(files++) + ".h5";
  file_ = Opened(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  Done(H5Pclose(access));
}

Hdf5File::~Hdf5File() { H5Fclose(file_); }

void Hdf5File::Add(const std::string& path, hid_t type, std::vector<hsize_t> shape, const void* values,
                   const Hdf5Layout& layout) {
  const hid_t space = shape.empty() ? Opened(H5Screate(H5S_SCALAR))
                                    : Opened(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
  const hid_t links = Opened(H5Pcreate(H5P_LINK_CREATE)), create = Opened(H5Pcreate(H5P_DATASET_CREATE));
  Done(H5Pset_create_intermediate_group(links, 1));
  if (!layout.chunk.empty()) Done(H5Pset_chunk(create, static_cast<int>(layout.chunk.size()), layout.chunk.data()));
  if (layout.is_compressed) {
    Done(H5Pset_shuffle(create));
    Done(H5Pset_deflate(create, 4));
    if (H5Tget_class(type) != H5T_VLEN) Done(H5Pset_fletcher32(create));  // which the library refuses for lists
  }
  if (layout.filter != 0) Done(H5Pset_filter(create, layout.filter, H5Z_FLAG_OPTIONAL, 0, nullptr));
  if (!layout.elsewhere.empty()) Done(H5Pset_external(create, layout.elsewhere.c_str(), 0, H5F_UNLIMITED));
  const hid_t dataset = Opened(H5Dcreate2(file_, path.c_str(), type, space, links, create, H5P_DEFAULT));
  if (layout.elsewhere.empty() && values != nullptr) {
    if (layout.written_rows > 0) {
      std::vector<hsize_t> first(shape.size());
      shape[0] = layout.written_rows;
      Done(H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, shape.data(), nullptr));
    }
    Done(H5Dwrite(dataset, type, layout.written_rows > 0 ? space : H5S_ALL, space, H5P_DEFAULT, values));
  }
  Done(H5Dclose(dataset));
  Done(H5Pclose(create));
  Done(H5Pclose(links));
  Done(H5Sclose(space));
}

void Hdf5File::AddNumbers(const std::string& path, const std::vector<int64_t>& numbers, const Hdf5Layout& layout) {
  Add(path, H5T_NATIVE_INT64, {numbers.size()}, numbers.data(), layout);
}

void Hdf5File::AddLists(const std::string& path, const std::vector<std::string>& lists, const Hdf5Layout& layout) {
  std::vector<hvl_t> values;
  for (const std::string& list : lists) values.push_back({list.size(), const_cast<char*>(list.data())});
  const hid_t type = Opened(H5Tvlen_create(H5T_NATIVE_UINT8));
  Add(path, type, {values.size()}, values.data(), layout);
  Done(H5Tclose(type));
}

void Hdf5File::AddLink(const std::string& path, const std::string& target, const std::string& file) {
  if (file.empty()) {
    Done(H5Lcreate_soft(target.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT));
  } else {
    Done(H5Lcreate_external(file.c_str(), target.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT));
  }
}

std::vector<uint8_t> Hdf5File::Bytes() {
  Done(H5Fflush(file_, H5F_SCOPE_GLOBAL));
  std::vector<uint8_t> bytes(static_cast<size_t>(H5Fget_file_image(file_, nullptr, 0)));
  STOKER_CHECK(H5Fget_file_image(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  return bytes;
}

}  // namespace stoker
