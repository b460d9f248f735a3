#include "client/capi/stoker.h"
#include "gtest/gtest.h"
#include "tests/unit/client/capi/job.h"

namespace stoker {
namespace {

TEST(CapiDigestTest, TakesBatchesFromTheFirstInOrder) {
  Cluster cluster(1, SyntheticConfig(48));
  const LoaderPtr loader = MakeLoader(Job(cluster));
  const BatchPtr first = Next(loader), second = Next(loader);
  ASSERT_NE(second, nullptr) << stoker_error();
  const DigestPtr digest(stoker_digest_create());
  EXPECT_EQ(stoker_digest_add(digest.get(), second.get()), STOKER_INVALID_ARGUMENT);
  EXPECT_EQ(stoker_digest_add(digest.get(), first.get()), STOKER_OK) << stoker_error();
  EXPECT_EQ(stoker_digest_add(digest.get(), second.get()), STOKER_OK) << stoker_error();
}

TEST(CapiDigestTest, IsTakenOnce) {
  Cluster cluster(1, SyntheticConfig(16));
  const LoaderPtr loader = MakeLoader(Job(cluster));
  const BatchPtr batch = Next(loader);
  const DigestPtr digest(stoker_digest_create());
  char* hex = nullptr;
  ASSERT_EQ(stoker_digest_hex(digest.get(), &hex), STOKER_OK);
  // Of nothing: SHA-256's test vector of the empty string.
  EXPECT_EQ(Taken(hex), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(stoker_digest_hex(digest.get(), &hex), STOKER_FAILED_PRECONDITION);
  EXPECT_EQ(stoker_digest_add(digest.get(), batch.get()), STOKER_FAILED_PRECONDITION);
}

TEST(CapiDigestTest, NullIsAnErrorAndNoCrash) {
  char* hex = nullptr;
  EXPECT_EQ(stoker_digest_hex(nullptr, &hex), STOKER_INVALID_ARGUMENT);
  EXPECT_EQ(stoker_digest_add(nullptr, nullptr), STOKER_INVALID_ARGUMENT);
  stoker_digest_destroy(nullptr);
}

}  // namespace
}  // namespace stoker
