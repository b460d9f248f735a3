// What glibc 2.28 has not, or has elsewhere than today's headers say, for libraries that run with it.

#include <sys/stat.h>

#define STOKER_HIDDEN __attribute__((visibility("hidden")))

extern "C" {

// Until glibc 2.33 these were functions of libc_nonshared.a, which every library had a copy of, over these of
// libc.so.6. The latter remain. The first argument says which struct stat is meant: 1 is the kernel's on x86-64.
int __xstat(int version, const char* path, struct stat* status);
int __lxstat(int version, const char* path, struct stat* status);
int __fxstat(int version, int file, struct stat* status);

STOKER_HIDDEN int stat(const char* path, struct stat* status) noexcept { return __xstat(1, path, status); }
STOKER_HIDDEN int lstat(const char* path, struct stat* status) noexcept { return __lxstat(1, path, status); }
STOKER_HIDDEN int fstat(int file, struct stat* status) noexcept { return __fxstat(1, file, status); }
STOKER_HIDDEN int fstat64(int file, struct stat64* status) noexcept {
  return __fxstat(1, file, reinterpret_cast<struct stat*>(status));  // They are the same on x86-64.
}

// Since glibc 2.32 this tells libstdc++ where one thread alone runs, which then counts without atomics. A library in
// somebody else's program is never sure of that.
STOKER_HIDDEN char __libc_single_threaded = 0;

}  // extern "C"
