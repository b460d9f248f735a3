// stoker-hdf5: takes HDF5 files apart for stokerd, which starts it and gives it their bytes. See messages.h.

#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "server/read/child/serve.h"
#include "server/read/formats/hdf5/messages.h"
#include "server/read/formats/hdf5/program/file_driver.h"
#include "server/read/formats/hdf5/program/files.h"

namespace stoker {
namespace {

ChildReply Answer(std::span<const uint8_t> bytes) {
  static Files files;
  Hdf5Request request;
  if (!ParseRequest({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, request))
    throw std::runtime_error("this is no request");
  return {ChildVerdict::kDone, files.Answer(request)};
}

}  // namespace
}  // namespace stoker

int main() {
  // No filters are loaded from elsewhere, and errors go into answers.
  if (H5dont_atexit() < 0 || H5open() < 0 || H5PLset_loading_state(0) < 0 ||
      H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) < 0 || stoker::FileDriver() < 0)
    return 1;
  return stoker::ServeRequests(stoker::Answer);
}
