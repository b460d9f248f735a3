#include "server/read/formats/hdf5/program/handle.h"

#include <new>
#include <stdexcept>

namespace stoker {
namespace {

struct Cause {
  std::string text;
  bool is_memory = false;
};

// Takes the innermost error, which is told of first.
herr_t Note(unsigned, const H5E_error2_t* error, void* data) {
  auto& cause = *static_cast<Cause*>(data);
  if (error->maj_num == H5E_RESOURCE && (error->min_num == H5E_NOSPACE || error->min_num == H5E_CANTALLOC))
    cause.is_memory = true;
  if (cause.text.empty() && error->desc != nullptr) cause.text = error->desc;
  return 0;
}

}  // namespace

void ThrowLibraryError(const std::string& what) {
  Cause cause;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, Note, &cause);
  H5Eclear2(H5E_DEFAULT);
  if (cause.is_memory) throw std::bad_alloc();
  throw std::runtime_error(cause.text.empty() ? what : what + ": " + cause.text);
}

}  // namespace stoker
