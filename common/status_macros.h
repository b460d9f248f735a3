#ifndef STOKER_COMMON_STATUS_MACROS_H_
#define STOKER_COMMON_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the status of `expression` from the enclosing function unless it is OK.
#define STOKER_RETURN_IF_ERROR(expression)                                                    \
  do {                                                                                        \
    if (absl::Status stoker_status = (expression); !stoker_status.ok()) return stoker_status; \
  } while (false)

// Assigns the value of the StatusOr `expression` to `target`, or returns its status.
#define STOKER_ASSIGN_OR_RETURN(target, expression) \
  STOKER_ASSIGN_OR_RETURN_IMPL(STOKER_CONCAT(stoker_value_, __LINE__), target, expression)
#define STOKER_ASSIGN_OR_RETURN_IMPL(value, target, expression) \
  auto value = (expression);                                    \
  if (!value.ok()) return std::move(value).status();            \
  target = *std::move(value)
#define STOKER_CONCAT(a, b) STOKER_CONCAT_IMPL(a, b)
#define STOKER_CONCAT_IMPL(a, b) a##b

#endif  // STOKER_COMMON_STATUS_MACROS_H_
