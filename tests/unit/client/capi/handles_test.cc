// Whatever a caller of the C library passes in place of an object, or of where to write, is an error and no crash.

#include "client/capi/handles.h"

#include <cstring>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/client/capi/job.h"

namespace stoker {
namespace {

using testing::HasSubstr;

// A call with one of these in place of its object fails.
void ExpectEachCallFails(stoker_loader* loader, stoker_batch* batch, stoker_digest* digest, const std::string& reason) {
  char here = 'x', *text = &here;
  stoker_batch* next = nullptr;
  stoker_tensor tensor = {};
  DLManagedTensor* managed = nullptr;
  const uint64_t id = 0;
  const auto expect = [&](const char* call, stoker_code code) {
    EXPECT_EQ(code, STOKER_INVALID_ARGUMENT) << call;
    EXPECT_THAT(stoker_error(), HasSubstr(reason)) << call;
    EXPECT_EQ(text, &here) << call;
  };
  expect("describe", stoker_loader_describe(loader, &text));
  expect("next", stoker_loader_next(loader, 0, &next));
  expect("set_epoch", stoker_loader_set_epoch(loader, 1));
  expect("state", stoker_loader_state(loader, &text));
  expect("restore", stoker_loader_restore(loader, "{}", 0));
  expect("stats", stoker_loader_stats(loader, &text));
  expect("classes", stoker_loader_classes(loader, &text));
  expect("labels", stoker_loader_labels(loader, &text));
  expect("names", stoker_loader_names(loader, &id, 1, &text));
  expect("get_tensor", stoker_batch_get_tensor(batch, 0, &tensor));
  expect("substituted", stoker_batch_substituted(batch, &text));
  expect("use_on", stoker_batch_use_on(batch, 0));
  expect("wait", stoker_batch_wait(batch));
  expect("dlpack", stoker_batch_dlpack(batch, 0, &managed));
  expect("digest_add", stoker_digest_add(digest, batch));
  expect("digest_hex", stoker_digest_hex(digest, &text));
  EXPECT_EQ(stoker_loader_waiting(loader), 0);
  stoker_loader_cancel(loader);
  stoker_batch_info info;
  std::memset(&info, 0xff, sizeof info);
  stoker_batch_get_info(batch, &info);
  EXPECT_EQ(info.size, 0);
  EXPECT_EQ(info.positions, nullptr);
  EXPECT_STREQ(stoker_batch_name(batch, 0), "");
  stoker_loader_destroy(loader);
  stoker_batch_release(batch);
  stoker_digest_destroy(digest);
}

TEST(CapiHandlesTest, NoObjectIsAnError) { ExpectEachCallFails(nullptr, nullptr, nullptr, "a null pointer"); }

TEST(CapiHandlesTest, AnObjectThatWasLetGoOfIsAnErrorForEver) {
  Cluster cluster(1, SyntheticConfig(100));
  LoaderPtr loader = MakeLoader(Job(cluster));
  ASSERT_NE(loader, nullptr) << stoker_error();
  BatchPtr batch = Next(loader);
  ASSERT_NE(batch, nullptr) << stoker_error();
  DigestPtr digest(stoker_digest_create());
  stoker_loader* const old_loader = loader.get();
  stoker_batch* const old_batch = batch.get();
  stoker_digest* const old_digest = digest.get();
  loader = MakeLoader(Job(cluster));
  batch = Next(loader);
  digest.reset(stoker_digest_create());
  ASSERT_NE(batch, nullptr) << stoker_error();
  ExpectEachCallFails(old_loader, old_batch, old_digest, "was let go of already");
  EXPECT_EQ(stoker_digest_add(digest.get(), old_batch), STOKER_INVALID_ARGUMENT);
  EXPECT_EQ(stoker_digest_add(digest.get(), batch.get()), STOKER_OK) << "the new ones live";
}

TEST(CapiHandlesTest, APointerToSomethingElseIsAnError) {
  alignas(16) char memory[64] = {};
  void* const other = memory;
  ExpectEachCallFails(static_cast<stoker_loader*>(other), static_cast<stoker_batch*>(other),
                      static_cast<stoker_digest*>(other), " of this library");
  const DigestPtr digest(stoker_digest_create());
  EXPECT_EQ(stoker_loader_set_epoch(reinterpret_cast<stoker_loader*>(digest.get()), 1), STOKER_INVALID_ARGUMENT);
  EXPECT_THAT(stoker_error(), HasSubstr("no stoker_loader of this library"));
}

TEST(CapiHandlesTest, NowhereToWriteIsAnError) {
  Cluster cluster(1, SyntheticConfig(100));
  const std::string job = Job(cluster).dump();
  const LoaderPtr loader = MakeLoader(Job(cluster));
  const BatchPtr batch = Next(loader);
  const DigestPtr digest(stoker_digest_create());
  ASSERT_NE(batch, nullptr) << stoker_error();
  const auto expect = [](const char* argument, stoker_code code) {
    EXPECT_EQ(code, STOKER_INVALID_ARGUMENT) << argument;
    EXPECT_THAT(stoker_error(), HasSubstr(std::string(argument) + ": a null pointer"));
  };
  char* text = nullptr;
  stoker_loader* made = nullptr;
  const uint64_t id = 0;
  expect("device", stoker_check_device(nullptr));
  expect("options", stoker_list(nullptr, &text));
  expect("json", stoker_list(job.c_str(), nullptr));
  expect("options", stoker_obstacles(nullptr, &text));
  expect("json", stoker_obstacles(job.c_str(), nullptr));
  expect("options", stoker_loader_create(nullptr, &made));
  expect("loader", stoker_loader_create(job.c_str(), nullptr));
  expect("json", stoker_loader_describe(loader.get(), nullptr));
  expect("batch", stoker_loader_next(loader.get(), -1, nullptr));
  expect("json", stoker_loader_state(loader.get(), nullptr));
  expect("state", stoker_loader_restore(loader.get(), nullptr, 0));
  expect("json", stoker_loader_stats(loader.get(), nullptr));
  expect("json", stoker_loader_classes(loader.get(), nullptr));
  expect("json", stoker_loader_labels(loader.get(), nullptr));
  expect("sample_ids", stoker_loader_names(loader.get(), nullptr, 1, &text));
  expect("json", stoker_loader_names(loader.get(), &id, 1, nullptr));
  expect("tensor", stoker_batch_get_tensor(batch.get(), 0, nullptr));
  expect("json", stoker_batch_substituted(batch.get(), nullptr));
  expect("tensor", stoker_batch_dlpack(batch.get(), 0, nullptr));
  expect("hex", stoker_digest_hex(digest.get(), nullptr));
  EXPECT_EQ(stoker_dlpack_use_on(nullptr, 0), STOKER_INVALID_ARGUMENT);
  stoker_batch_get_info(batch.get(), nullptr);
  EXPECT_THAT(stoker_error(), HasSubstr("info: a null pointer"));
  EXPECT_EQ(stoker_digest_add(digest.get(), batch.get()), STOKER_OK);
  EXPECT_EQ(stoker_digest_hex(digest.get(), &text), STOKER_OK) << "a failed call had not taken it";
  stoker_free(text);
}

TEST(CapiHandlesTest, ManyThreadsMakeAndLetGoOfObjects) {
  stoker_digest* shared = stoker_digest_create();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([shared] {
      for (int j = 0; j < 1000; ++j) stoker_digest_destroy(stoker_digest_create());
      stoker_digest_destroy(shared);  // One of them lets go of it.
    });
  for (std::thread& thread : threads) thread.join();
  char* text = nullptr;
  EXPECT_EQ(stoker_digest_hex(shared, &text), STOKER_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace stoker
