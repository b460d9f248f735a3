#include "server/observe/service_log.h"

#include "gtest/gtest.h"

namespace stoker {
namespace {

v1::SpanHeader Span(int samples, int substituted, bool failed) {
  v1::SpanHeader header;
  for (int i = 0; i < samples; ++i) header.add_sample_ids(i);
  for (int i = 0; i < substituted; ++i) header.add_substitutions();
  if (failed) header.mutable_error();
  return header;
}

TEST(ServiceLogTest, SaysWhatWasDoneSinceTheLastTime) {
  ServiceLog log;
  EXPECT_EQ(log.TakeRecent(), "") << "nothing was done";
  log.Opened("pets");
  log.Opened("pets");
  log.Refused();
  log.Made("pets", Span(64, 2, false));
  log.Made("pets", Span(0, 0, true));
  EXPECT_EQ(log.TakeRecent(),
            "2 streams opened, 0 ended, 1 refused, 2 open now; 2 spans, 64 samples, 2 substituted, 1 spans failed");
  EXPECT_EQ(log.TakeRecent(), "") << "nothing was done since";
  log.Ended("pets");
  log.Made("pets", Span(8, 0, false));
  EXPECT_EQ(log.TakeRecent(),
            "0 streams opened, 1 ended, 0 refused, 1 open now; 1 spans, 8 samples, 0 substituted, 0 spans failed");
  EXPECT_EQ(log.Total(),
            "2 streams opened, 1 ended, 1 refused, 1 open now; 3 spans, 72 samples, 2 substituted, 1 spans failed");
}

}  // namespace
}  // namespace stoker
