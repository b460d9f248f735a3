#ifndef STOKER_COMMON_CHECK_H_
#define STOKER_COMMON_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace stoker::internal {

[[noreturn]] inline void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: this cannot happen: %s is false\n", file, line, condition);
  std::abort();
}

}  // namespace stoker::internal

// Ends the process where `condition` is false: for what cannot happen, in every build.
#define STOKER_CHECK(condition) \
  ((condition) ? (void)0 : ::stoker::internal::CheckFailed(__FILE__, __LINE__, #condition))

#endif  // STOKER_COMMON_CHECK_H_
