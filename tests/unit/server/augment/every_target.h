#ifndef STOKER_TESTS_UNIT_SERVER_AUGMENT_EVERY_TARGET_H_
#define STOKER_TESTS_UNIT_SERVER_AUGMENT_EVERY_TARGET_H_

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace stoker {

// Expects that make() returns the same with each instruction set that this CPU has. It is called by one thread at a
// time.
template <typename Make>
void ExpectSameOnEveryTarget(const Make& make) {
  const auto expected = make();
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
#if HWY_ARCH_X86  // On ARM there is NEON alone; the golden epochs compare it with x86.
  EXPECT_GT(targets.size(), 1u) << "nothing to compare with";
#endif
  for (int64_t target : targets) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    EXPECT_EQ(make(), expected) << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_AUGMENT_EVERY_TARGET_H_
