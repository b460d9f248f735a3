// Samples that wait for an own op together are what they would be one by one.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/ops/loaded_ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/work/span_maker.h"
#include "tests/unit/server/work/photos.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kPixels = 1 << 20;
constexpr size_t kRoom = 5;  // images of a batch

// What the op is asked to do to the sample at a position.
enum class Deed : uint8_t { kWork, kBad, kFail };

struct Log {
  bool batches = true;                           // whether images wait
  std::vector<std::pair<uint64_t, Deed>> deeds;  // by position
  size_t added = 0;                              // images that waited
  std::vector<size_t> runs;                      // how many images were made at once
  size_t alone = 0;                              // and one by one
};

Deed DeedAt(const Log& log, uint64_t position) {
  for (const auto& [at, deed] : log.deeds)
    if (at == position) return deed;
  return Deed::kWork;
}

// Darkens by what it draws, and with `halve` takes every other pixel.
absl::Status Work(const Log& log, const OwnParameters& own, const uint8_t* in, ImageSize size, uint8_t* out) {
  const Deed deed = DeedAt(log, own.key.position);
  if (deed == Deed::kBad) return absl::DataLossError("too dark");
  if (deed == Deed::kFail) return absl::InternalError("no luck");
  Draws draws(own.key);
  const auto by = static_cast<uint8_t>(1 + draws.Below(9));
  const int64_t step = own.size == size ? 1 : 2;
  for (int64_t y = 0; y < own.size.height; ++y)
    for (int64_t x = 0; x < own.size.width; ++x)
      for (int64_t channel = 0; channel < 3; ++channel)
        *out++ = static_cast<uint8_t>(in[(step * y * size.width + step * x) * 3 + channel] / by);
  return absl::OkStatus();
}

class Batch : public OwnBatch {
 public:
  explicit Batch(Log& log) : log_(log) {}

  uint8_t* Add(const OwnParameters& own, ImageSize size) override {
    if (images_.size() == kRoom) return nullptr;
    ++log_.added;
    images_.push_back(
        {own, size, Bytes(size.height * size.width * 3), Bytes(own.size.height * own.size.width * 3), {}});
    return images_.back().in.data();
  }
  size_t size() const override { return images_.size(); }
  bool full() const override { return images_.size() == kRoom; }
  void Truncate(size_t count) override {
    if (images_.size() > count) images_.resize(count);
  }
  void Run(const std::function<bool()>&) override {
    log_.runs.push_back(images_.size());
    absl::Status failure;
    for (Image& image : images_) {
      image.status = failure.ok() ? Work(log_, image.own, image.in.data(), image.size, image.out.data()) : failure;
      if (!image.status.ok() && !absl::IsDataLoss(image.status)) failure = absl::InternalError("it had ended");
    }
  }
  absl::StatusOr<uint8_t*> Made(size_t i) const override {
    if (!images_[i].status.ok()) return images_[i].status;
    return const_cast<uint8_t*>(images_[i].out.data());
  }

 private:
  struct Image {
    OwnParameters own;
    ImageSize size;
    Bytes in, out;
    absl::Status status;
  };
  Log& log_;
  std::vector<Image> images_;
};

class Darken : public LoadedOp {
 public:
  Darken(Log& log, std::string name, bool halves) : log_(log), name_(std::move(name)), halves_(halves) {}

  const std::string& name() const override { return name_; }
  uint32_t version() const override { return 1; }
  const std::string& summary() const override { return name_; }
  const std::vector<Argument>& arguments() const override { return arguments_; }
  bool changes_size() const override { return halves_; }
  absl::Status Check(const std::vector<OwnValue>&) const override { return absl::OkStatus(); }
  absl::StatusOr<ImageSize> SizeAfter(const std::vector<OwnValue>&, ImageSize size) const override {
    return halves_ ? ImageSize{size.height / 2, size.width / 2} : size;
  }
  absl::Status Apply(const std::vector<OwnValue>& values, const DrawKey& key, const uint8_t* in, ImageSize size,
                     uint8_t* out, ImageSize size_after) const override {
    ++log_.alone;
    return Work(log_, {this, values, key, size_after}, in, size, out);
  }
  std::unique_ptr<OwnBatch> NewBatch() const override { return log_.batches ? std::make_unique<Batch>(log_) : nullptr; }

 private:
  Log& log_;
  const std::string name_;
  const bool halves_;
  const std::vector<Argument> arguments_;
};

class OwnBatchTest : public testing::Test {
 protected:
  OwnBatchTest() {
    LoadedOps ops;
    ops.push_back(std::make_unique<Darken>(log_, "darken", false));
    ops.push_back(std::make_unique<Darken>(log_, "halve", true));
    SetLoadedOps(std::move(ops));
    for (uint64_t i = 0; i < 12; ++i) files_.push_back(Jpeg(i, {64 + static_cast<int64_t>(i), 90}));
  }
  ~OwnBatchTest() override { SetLoadedOps({}); }

  struct Span {
    v1::SpanHeader header;
    Bytes bytes;
  };

  Span Make(const std::string& pipeline, bool batches) {
    log_.batches = batches;
    log_.runs.clear();
    log_.alone = 0;
    const Photos photos(files_);
    const StreamPlan plan = Plan(pipeline, photos);
    const SpanId id = {0, 0, static_cast<uint32_t>(photos.size())};
    Span span;
    span.bytes.assign(plan.SpanBytes(id), 0xcd);
    span.header = maker_.Make(plan, photos, id, span.bytes, Interrupt());
    return span;
  }

  // Makes the span both ways, and expects the same of both.
  Span Same(const std::string& pipeline) {
    const Span alone = Make(pipeline, false);
    EXPECT_TRUE(log_.runs.empty());
    Span span = Make(pipeline, true);
    EXPECT_EQ(span.header.error().ShortDebugString(), alone.header.error().ShortDebugString());
    if (alone.header.has_error()) return span;
    EXPECT_EQ(span.bytes, alone.bytes);
    EXPECT_TRUE(std::equal(span.header.sample_ids().begin(), span.header.sample_ids().end(),
                           alone.header.sample_ids().begin(), alone.header.sample_ids().end()));
    EXPECT_EQ(span.header.substitutions_size(), alone.header.substitutions_size());
    for (int i = 0; i < std::min(span.header.substitutions_size(), alone.header.substitutions_size()); ++i)
      EXPECT_EQ(span.header.substitutions(i).ShortDebugString(), alone.header.substitutions(i).ShortDebugString());
    return span;
  }

  Log log_;
  std::vector<Bytes> files_;
  SpanMaker maker_{{kPixels}};
};

const std::string kCrop = "ops { random_resized_crop { size: 32 } } ";
const std::string kDarken = "ops { own_op { name: 'darken' } } ";
const std::string kHalve = "ops { own_op { name: 'halve' } } ";
const std::string kSubstitute = "bad_samples: BAD_SAMPLES_SUBSTITUTE ";

TEST_F(OwnBatchTest, ASpanIsWhatItsSamplesAreOneByOne) {
  const std::string flip = "ops { random_horizontal_flip {} } ";
  const std::string erase = "ops { random_erasing { p: 0.7 } } ", jitter = "ops { color_jitter { brightness: 0.4 } } ";
  for (const std::string& pipeline : {
           kCrop + kDarken,                                       // the last pass
           kCrop + kDarken + flip + jitter,                       // passes behind it, in place and not
           kCrop + kDarken + erase,                               // in place alone
           kCrop + jitter + erase + kDarken,                      // in place before it
           kDarken + kCrop,                                       // the first pass, on images of several sizes
           kCrop + kHalve + kDarken,                              // another own op behind it
           "ops { center_crop { size: 40 } } " + kHalve + kCrop,  // a crop that copies nothing
           "ops { random_apply { p: 0.5 transforms { own_op { name: 'darken' } } } } " + kCrop,
           "ops { random_choice { transforms { own_op { name: 'darken' } } transforms { own_op { name: 'halve' } } } "
           "} " +
               kCrop,
           "views { name: 'a' count: 3 " + kCrop + kDarken + "} views { name: 'b' " + kCrop + "} ",
       }) {
    SCOPED_TRACE(pipeline);
    EXPECT_FALSE(Same(pipeline).header.has_error());
    EXPECT_FALSE(log_.runs.empty());
  }
}

TEST_F(OwnBatchTest, SamplesWaitWhileThereIsRoom) {
  Make(kCrop + kDarken, true);
  EXPECT_THAT(log_.runs, ElementsAre(5, 5, 2));
  EXPECT_EQ(log_.alone, 0);
  Make("views { name: 'a' count: 7 " + kCrop + kDarken + "} ", true);
  EXPECT_THAT(log_.runs, testing::Each(5));
  EXPECT_EQ(log_.alone, 12 * 2) << "what has no room is asked for by itself";
}

TEST_F(OwnBatchTest, ABadSampleIsNamedOrSubstitutedAsAlone) {
  log_.deeds = {{3, Deed::kBad}, {4, Deed::kBad}};
  EXPECT_THAT(Same(kCrop + kDarken).header.error().message(), HasSubstr("position 3): too dark"));
  const Span span = Same(kSubstitute + kCrop + kDarken);
  ASSERT_EQ(span.header.substitutions_size(), 2);
  EXPECT_EQ(span.header.substitutions(0).position(), 5);
  EXPECT_EQ(span.header.substitutions(1).position(), 5);
  log_.deeds.clear();
  for (uint64_t i = 0; i < 12; ++i) log_.deeds.emplace_back(i, Deed::kBad);
  EXPECT_THAT(Same(kSubstitute + kCrop + kDarken).header.error().message(), HasSubstr("stand in for it"));
}

TEST_F(OwnBatchTest, AFailureIsThatOfTheFirstSampleThatFails) {
  log_.deeds = {{3, Deed::kFail}};
  EXPECT_THAT(Same(kCrop + kDarken).header.error().message(), HasSubstr("position 3): no luck"));
  EXPECT_THAT(Same(kSubstitute + kCrop + kDarken).header.error().message(), HasSubstr("position 3): no luck"));
}

TEST_F(OwnBatchTest, AFileThatCannotBeDecodedComesAfterSamplesThatWaitBeforeIt) {
  const Photos photos(files_);
  const StreamPlan plan = Plan(kCrop + kDarken, photos);
  files_[plan.OrderOf(0).SampleAt(3)] = {1, 2, 3};
  EXPECT_THAT(Same(kCrop + kDarken).header.error().message(), HasSubstr("position 3)"));
  EXPECT_EQ(Same(kSubstitute + kCrop + kDarken).header.substitutions_size(), 1);
  log_.deeds = {{2, Deed::kFail}};
  EXPECT_THAT(Same(kCrop + kDarken).header.error().message(), HasSubstr("position 2): no luck"));
  log_.deeds = {{2, Deed::kBad}};
  EXPECT_EQ(Same(kSubstitute + kCrop + kDarken).header.substitutions_size(), 2);
}

TEST_F(OwnBatchTest, NothingIsAskedForOnceASpanIsGivenUp) {
  const Photos photos(files_);
  const StreamPlan plan = Plan(kCrop + kDarken, photos);
  const SpanId id = {0, 0, 12};
  Bytes bytes(plan.SpanBytes(id));
  const Interrupt interrupt(
      [this] { return log_.added < 3 ? absl::OkStatus() : absl::CancelledError("nobody waits for it"); });
  EXPECT_THAT(maker_.Make(plan, photos, id, bytes, interrupt).error().message(), HasSubstr("nobody waits for it"));
  EXPECT_TRUE(log_.runs.empty());
}

}  // namespace
}  // namespace stoker
