#include "common/identity/fingerprint.h"

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(FingerprintTest, IsTheSha256OfItsPieces) {
  Fingerprint fingerprint("a");
  fingerprint.AddBytes("bc");
  EXPECT_EQ(absl::BytesToHexString(fingerprint.Finish()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");  // "abc", FIPS 180-4
}

TEST(FingerprintTest, WritesNumbersLittleEndianIn8Bytes) {
  Fingerprint number("");
  number.AddNumber(0x0102030405060708);
  EXPECT_EQ(number.Finish(), Fingerprint("\x08\x07\x06\x05\x04\x03\x02\x01").Finish());
}

TEST(FingerprintTest, DoesNotDependOnHowPiecesFallIntoItsBuffer) {
  const std::string million(1'000'000, 'a');
  for (size_t piece : {1, 7, 8191, 8192, 8193, 1'000'000}) {
    Fingerprint fingerprint("");
    for (size_t i = 0; i < million.size(); i += piece) fingerprint.AddBytes(std::string_view(million).substr(i, piece));
    EXPECT_EQ(absl::BytesToHexString(fingerprint.Finish()),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
        << "pieces of " << piece;
  }
}

}  // namespace
}  // namespace stoker
