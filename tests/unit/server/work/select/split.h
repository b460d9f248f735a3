#ifndef STOKER_TESTS_UNIT_SERVER_WORK_SELECT_SPLIT_H_
#define STOKER_TESTS_UNIT_SERVER_WORK_SELECT_SPLIT_H_

#include <string>

#include "common/identity/subset.h"
#include "gtest/gtest.h"

namespace stoker {

// The subset that a user writes as `split`.
inline v1::Subset Split(const std::string& split) {
  v1::Subset subset;
  EXPECT_TRUE(ParseSplit(split, subset).ok());
  return subset;
}

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_WORK_SELECT_SPLIT_H_
