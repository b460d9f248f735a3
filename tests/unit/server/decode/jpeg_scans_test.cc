#include "server/decode/jpeg_scans.h"

#include <vector>

#include "gtest/gtest.h"

namespace stoker {
namespace {

using Bytes = std::vector<uint8_t>;

TEST(JpegScansTest, CountsScansUpToTheEndOfTheImage) {
  EXPECT_EQ(CountJpegScans(Bytes{}), 0);
  EXPECT_EQ(CountJpegScans(Bytes{0xff, 0xd8, 0xff, 0xd9}), 0);
  EXPECT_EQ(CountJpegScans(Bytes{0xff, 0xd8, 0xff, 0xda, 0, 2, 7, 7, 0xff, 0xda, 0, 2, 7, 0xff, 0xd9}), 2);
  EXPECT_EQ(CountJpegScans(Bytes{0xff, 0xda, 0, 2, 7, 0xff, 0xd9, 0xff, 0xda, 0, 2, 7}), 1);
}

TEST(JpegScansTest, PassesWhatOnlyLooksLikeAMarker) {
  // A comment, a stuffed zero, a restart.
  EXPECT_EQ(CountJpegScans(Bytes{0xff, 0xfe, 0, 6, 0xff, 0xda, 0xff, 0xd9, 0xff, 0xda, 0, 2, 7}), 1);
  EXPECT_EQ(CountJpegScans(Bytes{0xff, 0xda, 0, 2, 0xff, 0, 0xda, 0xff, 0xd0, 0xda, 0, 2, 7}), 1);
}

TEST(JpegScansTest, SeesAScanAfterFillBytesAndReservedMarkers) {
  EXPECT_EQ(CountJpegScans(Bytes{0xff, 0xff, 0xff, 0xda, 0, 2, 7}), 1);
  EXPECT_EQ(CountJpegScans(Bytes{0xff, 0x02, 0, 6, 0xff, 0xda, 0, 2, 7}), 1);
}

}  // namespace
}  // namespace stoker
