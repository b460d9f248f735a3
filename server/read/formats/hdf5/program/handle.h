#ifndef STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_HANDLE_H_
#define STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_HANDLE_H_

#include <hdf5.h>

#include <string>
#include <utility>

namespace stoker {

// Throws what the library said last: std::bad_alloc where it had no memory, else a std::runtime_error that begins with
// `what`.
[[noreturn]] void ThrowLibraryError(const std::string& what);

// Returns a result of the library's, or throws where it says that the call failed.
template <typename Result>
Result Checked(Result result, const char* what) {
  if (result < 0) ThrowLibraryError(what);
  return result;
}

// Owns something of the library's.
class Handle {
 public:
  Handle() = default;
  // Throws where the call that gave `id` failed.
  Handle(hid_t id, herr_t (*close)(hid_t), const char* what) : id_(Checked(id, what)), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }

  hid_t operator*() const { return id_; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_HDF5_PROGRAM_HANDLE_H_
