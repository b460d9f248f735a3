#include "server/read/formats/hdf5/hdf5_dataset.h"

#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fuzz/memory_store.h"
#include "tests/unit/server/read/formats/hdf5/hdf5_file.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

using Files = std::map<std::string, std::vector<uint8_t>>;

std::string Jpeg(size_t bytes, char fill = 'j') { return "\xff\xd8\xff\xe0" + std::string(bytes, fill); }

std::vector<int64_t> Range(int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

struct Opening {
  v1::Hdf5 config;
  std::string program = STOKER_TEST_HDF5_CHILD;
  bool remote = false;
};

absl::StatusOr<std::unique_ptr<Hdf5Dataset>> Open(const Files& files, const Opening& opening = {}) {
  std::vector<ObjectInfo> infos;
  for (const auto& [name, bytes] : files) infos.push_back({name, bytes.size(), ""});
  return Hdf5Dataset::Open(opening.config, std::make_shared<MemoryStore>(files, opening.remote), std::move(infos),
                           {.name = "pets", .program = opening.program});
}

Opening Asking(const std::map<std::string, std::string>& fields) {
  Opening opening;
  for (const auto& [name, from] : fields) (*opening.config.mutable_fields())[name].set_from(from);
  return opening;
}

// Returns the bytes of a field of a sample, or the error.
std::string Value(const Dataset& dataset, uint64_t id, const std::string& name) {
  SampleBytes sample;
  if (const absl::Status read = dataset.Read(id, sample); !read.ok()) return read.ToString();
  for (size_t field = 0; field < dataset.schema().size(); ++field)
    if (dataset.schema()[field].name == name) return {sample.fields[field].begin(), sample.fields[field].end()};
  return "no field";
}

template <typename Number>
Number NumberOf(const Dataset& dataset, uint64_t id, const std::string& name) {
  const std::string bytes = Value(dataset, id, name);
  Number number = -77;
  EXPECT_EQ(bytes.size(), sizeof number) << bytes;
  if (bytes.size() == sizeof number) std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

TEST(Hdf5DatasetTest, ImagesAndLabelsOfSeveralFilesAreOneDataset) {
  Hdf5File a, b, empty;
  a.AddLists("images", {Jpeg(10), Jpeg(100000, 'k'), Jpeg(3)}, {.chunk = {2}, .is_compressed = true});
  a.AddNumbers("labels", {5, 6, 7}, {.chunk = {2}, .is_compressed = true});
  b.AddLists("images", {Jpeg(20, 'b')});
  b.AddNumbers("labels", {8});
  empty.AddLists("images", {});
  empty.AddNumbers("labels", {});
  const auto opened = Open({{"0.h5", empty.Bytes()}, {"a.h5", a.Bytes()}, {"b.h5", b.Bytes()}});
  ASSERT_TRUE(opened.ok()) << opened.status();
  const Hdf5Dataset& dataset = **opened;
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  ASSERT_EQ(dataset.size(), 4);
  ASSERT_EQ(dataset.schema().size(), 2);
  EXPECT_EQ(dataset.schema()[0].name, "image");
  EXPECT_EQ(dataset.schema()[0].kind, SourceField::Kind::kEncodedImage);
  EXPECT_EQ(dataset.schema()[1].name, "label");
  EXPECT_EQ(dataset.SampleName(2), "a.h5:2");
  EXPECT_EQ(dataset.SampleName(3), "b.h5:0");
  EXPECT_EQ(Value(dataset, 1, "image"), Jpeg(100000, 'k'));
  EXPECT_EQ(Value(dataset, 3, "image"), Jpeg(20, 'b'));
  for (uint64_t id = 0; id < 4; ++id) EXPECT_EQ(NumberOf<int64_t>(dataset, id, "label"), 5 + static_cast<int64_t>(id));
}

TEST(Hdf5DatasetTest, DenseRowsAreReadFromChunksOfAnyShape) {
  std::vector<uint8_t> pixels(7 * 4 * 6 * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 31 % 251);
  const std::vector<Hdf5Layout> layouts = {{},
                                           {.chunk = {1, 4, 6, 3}, .is_compressed = true},
                                           {.chunk = {3, 4, 6, 3}, .is_compressed = true},
                                           {.chunk = {2, 3, 2, 3}, .is_compressed = true},
                                           {.chunk = {2, 3, 2, 3}}};
  for (const Hdf5Layout& layout : layouts) {
    Hdf5File file;
    file.Add("train/images", H5T_NATIVE_UINT8, {7, 4, 6, 3}, pixels.data(), layout);
    const auto opened = Open({{"a.h5", file.Bytes()}});
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ((*opened)->schema()[0].name, "image");
    EXPECT_THAT((*opened)->schema()[0].shape, ElementsAre(4, 6, 3));
    for (const uint64_t id : {6, 0, 3, 2, 5}) {
      const auto row = pixels.begin() + static_cast<ptrdiff_t>(id * 72);
      EXPECT_EQ(Value(**opened, id, "image"), std::string(row, row + 72));
    }
  }
}

TEST(Hdf5DatasetTest, NumbersBecomeTheTypesThatFieldsHave) {
  Hdf5File file;
  const std::vector<int8_t> i8 = {-1, 2};
  const std::vector<uint16_t> u16 = {65535, 2};
  const std::vector<uint64_t> u64 = {9, uint64_t{1} << 63};
  const std::vector<float> f32 = {0.5F, -2.0F};
  file.Add("i8", H5T_NATIVE_INT8, {2}, i8.data());
  file.Add("u16", H5T_STD_U16BE, {2}, u16.data());
  file.Add("u64", H5T_NATIVE_UINT64, {2}, u64.data());
  file.Add("f32", H5T_NATIVE_FLOAT, {2}, f32.data());
  const auto opened = Open({{"a.h5", file.Bytes()}});
  ASSERT_TRUE(opened.ok()) << opened.status();
  const auto narrow = Open({{"a.h5", file.Bytes()}}, Asking({{"i8", ""}, {"f32", "/f32"}}));
  ASSERT_TRUE(narrow.ok()) << narrow.status();
  EXPECT_EQ(NumberOf<int16_t>(**narrow, 0, "i8"), -1);
  EXPECT_EQ(NumberOf<float>(**narrow, 1, "f32"), -2.0F);
  EXPECT_EQ(NumberOf<int32_t>(**opened, 0, "u16"), 65535);
  EXPECT_EQ(NumberOf<int64_t>(**opened, 0, "u64"), 9);
  EXPECT_THAT(Value(**opened, 1, "u64"), HasSubstr("pets: a.h5:1: the dataset u64: is above what int64 holds"));
}

TEST(Hdf5DatasetTest, WhatCannotBeAFieldIsLeftOutAndSaysWhy) {
  Hdf5File file;
  const float mean = 0.5F;
  const hid_t text = H5Tcopy(H5T_C_S1);
  ASSERT_GE(H5Tset_size(text, H5T_VARIABLE), 0);
  const std::vector<const char*> names = {"cat", "dog"};
  file.AddNumbers("label", {1, 2});
  file.AddLists("notes", {"none", ""});
  file.AddLink("alias", "/label");
  file.AddLink("other", "/label", "/etc/passwd");
  file.Add("mean", H5T_NATIVE_FLOAT, {}, &mean);
  file.Add("names", text, {2}, names.data());
  file.AddNumbers("outside", {1, 2}, {.elsewhere = "/etc/passwd"});
  file.AddNumbers("packed", {1, 2}, {.chunk = {2}, .filter = 32000});
  H5Tclose(text);
  const auto opened = Open({{"a.h5", file.Bytes()}});
  ASSERT_TRUE(opened.ok()) << opened.status();
  ASSERT_EQ((*opened)->schema().size(), 1);
  EXPECT_THAT(
      (*opened)->warnings(),
      ElementsAre(HasSubstr("'alias' is left out: it is a link:"), HasSubstr("'mean' is left out: it is one value"),
                  HasSubstr("'names' is left out: it is text"), HasSubstr("'notes' is left out: it is bytes"),
                  HasSubstr("'other' is left out: it is a link to another file"),
                  HasSubstr("'outside' is left out: it lies in other files"),
                  HasSubstr("'packed' is left out: it is compressed by (32000), which")));
  EXPECT_THAT(Open({{"a.h5", file.Bytes()}}, Asking({{"label", "packed"}})).status().message(),
              HasSubstr("a.h5: fields.label: the dataset 'packed' is compressed by (32000)"));
  EXPECT_THAT(Open({{"a.h5", file.Bytes()}}, Asking({{"label", "labels"}})).status().message(),
              HasSubstr("there is no dataset 'labels'"));
}

TEST(Hdf5DatasetTest, DatasetsOfOtherLengthsAreNamed) {
  Hdf5File file, other;
  file.AddNumbers("train/label", Range(5));
  file.AddNumbers("test/label", Range(3));
  EXPECT_THAT(Open({{"a.h5", file.Bytes()}}).status().message(),
              HasSubstr("a.h5: its datasets 'test/label' and 'train/label' have 3 and 5 rows"));
  const auto train = Open({{"a.h5", file.Bytes()}}, Asking({{"label", "train/label"}}));
  ASSERT_TRUE(train.ok()) << train.status();
  EXPECT_EQ((*train)->size(), 5);
  other.AddLists("train/label", {"a"});
  EXPECT_THAT(
      Open({{"a.h5", file.Bytes()}, {"b.h5", other.Bytes()}}, Asking({{"label", "train/label"}})).status().message(),
      HasSubstr("b.h5: has no dataset train/label of the type"));
}

TEST(Hdf5DatasetTest, OneFingerprintWhereverFilesLie) {
  Hdf5File file;
  file.AddNumbers("label", Range(5));
  const Files files = {{"a.h5", file.Bytes()}};
  Opening opening;
  opening.remote = true;
  const auto local = Open(files), remote = Open(files, opening), mapped = Open(files, Asking({{"y", "label"}})),
             renamed = Open({{"b.h5", file.Bytes()}});
  ASSERT_TRUE(local.ok() && remote.ok() && mapped.ok() && renamed.ok());
  EXPECT_EQ((*local)->fingerprint(), (*remote)->fingerprint());
  EXPECT_NE((*local)->fingerprint(), (*mapped)->fingerprint());
  EXPECT_NE((*local)->fingerprint(), (*renamed)->fingerprint());
}

TEST(Hdf5DatasetTest, ASmallCacheIsWarnedOfAndReadsTheSame) {
  Hdf5File file;
  file.AddNumbers("label", Range(100), {.chunk = {10}, .is_compressed = true});
  Opening opening;
  opening.config.set_cache("170B");
  const auto small = Open({{"a.h5", file.Bytes()}}, opening);
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_THAT((*small)->warnings(), ElementsAre(HasSubstr("decodes its chunks, of up to 10 rows and 160")));
  for (int64_t id = 0; id < 100; ++id)
    EXPECT_EQ(NumberOf<int64_t>(**small, static_cast<uint64_t>(id * 37 % 100), "label"), id * 37 % 100);
  opening.config.set_cache("much");
  EXPECT_THAT(Open({{"a.h5", file.Bytes()}}, opening).status().message(), HasSubstr("hdf5.cache"));
}

TEST(Hdf5DatasetTest, DamageIsTheLossOfItsSamples) {
  Hdf5File file;
  file.AddNumbers("label", Range(1000), {.chunk = {10}, .is_compressed = true});
  std::vector<uint8_t> bytes = file.Bytes();
  for (size_t i = bytes.size() - 300; i < bytes.size() - 100; ++i) bytes[i] ^= 0xff;
  const auto opened = Open({{"a.h5", bytes}});
  ASSERT_TRUE(opened.ok()) << opened.status();
  int lost = 0;
  for (uint64_t id = 0; id < 1000; id += 10) {
    SampleBytes sample;
    const absl::Status read = (*opened)->Read(id, sample);
    if (read.ok()) continue;
    EXPECT_EQ(read.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(read.message(), HasSubstr("its values cannot be read"));
    ++lost;
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 100);
}

TEST(Hdf5DatasetTest, WhatIsNoFileIsRefused) {
  EXPECT_EQ(Open({{"a.h5", std::vector<uint8_t>(5000, 'x')}}).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Open({{"a.h5", {}}}).status().code(), absl::StatusCode::kDataLoss);
  Hdf5File file;
  file.AddNumbers("label", Range(1000));
  std::vector<uint8_t> bytes = file.Bytes();
  bytes.resize(bytes.size() - 500);
  EXPECT_THAT(Open({{"a.h5", bytes}}).status().message(), HasSubstr("a.h5: it cannot be opened"));
  Hdf5File empty;
  empty.AddNumbers("label", {});
  EXPECT_THAT(Open({{"a.h5", empty.Bytes()}}).status().message(), HasSubstr("no row"));
}

TEST(Hdf5DatasetTest, RowsThatAFileCannotHaveAreRefused) {
  Hdf5File file;
  file.Add("label", H5T_NATIVE_INT64, {hsize_t{1} << 60}, nullptr, {.chunk = {1 << 10}, .is_compressed = true});
  EXPECT_THAT(Open({{"a.h5", file.Bytes()}}).status().message(), HasSubstr("claims more rows than its file can have"));
}

TEST(Hdf5DatasetTest, ABuildWithoutLibhdf5SaysWhatToDo) {
  Hdf5File file;
  file.AddNumbers("label", {1});
  Opening opening;
  opening.program = "/nonexistent/program";
  const auto status = Open({{"a.h5", file.Bytes()}}, opening).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("./dev setup"));
}

// A store that notes what is read, and fails once it is told to, as one does whose object has changed.
class WatchedStore final : public Store {
 public:
  explicit WatchedStore(Files files) : files_(std::move(files), false) {}

  std::string description() const override { return "memory"; }
  bool is_remote() const override { return false; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing& listing) override { return files_.List(listing); }
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override {
    return files_.Describe(names);
  }
  void Read(const Range& range, Done done) override {
    sizes.push_back(range.into.size());
    if (!has_changed) return files_.Read(range, std::move(done));
    done(absl::FailedPreconditionError(range.object->name + ": changed since it was indexed"));
  }

  bool has_changed = false;
  std::vector<uint64_t> sizes;  // of the ranges that were read

 private:
  MemoryStore files_;
};

// Returns the sizes of the ranges that `wanted` of a sample is read by, which are whole pages where a child decodes it.
std::vector<uint64_t> ReadsOf(const Hdf5Dataset& dataset, uint64_t id, WatchedStore& store,
                              FieldSet wanted = FieldSet::All()) {
  store.sizes.clear();
  SampleBytes sample;
  sample.wanted = wanted;
  const absl::Status read = dataset.Read(id, sample);
  EXPECT_TRUE(read.ok()) << read;
  return store.sizes;
}

TEST(Hdf5DatasetTest, ValuesThatLieThereAsTheyAreAreReadFromTheStore) {
  std::vector<uint8_t> pixels(7 * 4 * 6 * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 31 % 251);
  std::vector<std::string> images;
  for (int i = 0; i < 7; ++i) images.push_back(Jpeg(20000, static_cast<char>('a' + i)));
  for (const std::vector<hsize_t>& chunk : {std::vector<hsize_t>{}, {3, 4, 6, 3}}) {
    Hdf5File file;
    const std::vector<hsize_t> of_rows = chunk.empty() ? chunk : std::vector<hsize_t>{3};
    file.Add("dense", H5T_NATIVE_UINT8, {7, 4, 6, 3}, pixels.data(), {.chunk = chunk});
    file.AddNumbers("label", Range(7), {.chunk = of_rows});
    file.AddLists("image", images, {.chunk = of_rows});
    const Files files = {{"a.h5", file.Bytes()}};
    const auto store = std::make_shared<WatchedStore>(files);
    const auto opened = Hdf5Dataset::Open({}, store, {{"a.h5", files.at("a.h5").size(), ""}},
                                          {.name = "pets", .program = STOKER_TEST_HDF5_CHILD});
    ASSERT_TRUE(opened.ok()) << opened.status();
    for (const uint64_t id : {6, 0, 3, 2, 5}) {
      EXPECT_EQ(Value(**opened, id, "dense"), std::string(pixels.begin() + id * 72, pixels.begin() + (id + 1) * 72));
      EXPECT_EQ(NumberOf<int64_t>(**opened, id, "label"), static_cast<int64_t>(id));
      EXPECT_EQ(Value(**opened, id, "image"), images[id]);
      // The row of dense, a reference, a look at what it refers to, the image, the label.
      EXPECT_THAT(ReadsOf(**opened, id, *store),
                  IsSupersetOf({uint64_t{72}, kReferenceBytes, uint64_t{20004}, uint64_t{8}}));
      EXPECT_LE(store->sizes.size(), 7);  // A collection has up to three such images, of which each is looked at.
      const SourceSchema& schema = (*opened)->schema();
      FieldSet labels;
      labels.Add(std::find_if(schema.begin(), schema.end(), [](const auto& f) { return f.name == "label"; }) -
                 schema.begin());
      EXPECT_THAT(ReadsOf(**opened, id, *store, labels), ElementsAre(8));
    }
  }
}

TEST(Hdf5DatasetTest, NumbersThatAreConvertedAreDecodedTogether) {
  Hdf5File file;
  std::vector<uint16_t> numbers(20000);
  std::iota(numbers.begin(), numbers.end(), 0);
  file.Add("label", H5T_NATIVE_UINT16, {numbers.size()}, numbers.data());
  const Files files = {{"a.h5", file.Bytes()}};
  const auto store = std::make_shared<WatchedStore>(files);
  const auto opened = Hdf5Dataset::Open({}, store, {{"a.h5", files.at("a.h5").size(), ""}},
                                        {.name = "pets", .program = STOKER_TEST_HDF5_CHILD});
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(NumberOf<int32_t>(**opened, 19999, "label"), 19999);
  EXPECT_EQ(NumberOf<int32_t>(**opened, 5, "label"), 5);
  for (uint64_t id = 0; id < 100; ++id) EXPECT_THAT(ReadsOf(**opened, id, *store), IsEmpty());
}

TEST(Hdf5DatasetTest, WhatWasNeverWrittenIsRead) {
  Hdf5File file;
  file.Add("label", H5T_NATIVE_INT64, {5}, nullptr);
  file.Add("chunked", H5T_NATIVE_INT64, {5}, nullptr, {.chunk = {2}});
  const auto opened = Open({{"a.h5", file.Bytes()}});
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(NumberOf<int64_t>(**opened, 4, "label"), 0);
  EXPECT_EQ(NumberOf<int64_t>(**opened, 4, "chunked"), 0);
  Hdf5File partly;
  const std::vector<int64_t> numbers = Range(7);
  partly.Add("label", H5T_NATIVE_INT64, {7}, numbers.data(), {.chunk = {2}, .written_rows = 3});
  const auto some = Open({{"a.h5", partly.Bytes()}});
  ASSERT_TRUE(some.ok()) << some.status();
  for (const int64_t id : {0, 1, 2, 3, 4, 6})
    EXPECT_EQ(NumberOf<int64_t>(**some, static_cast<uint64_t>(id), "label"), id < 3 ? id : 0);
}

TEST(Hdf5DatasetTest, EachOfManyChunksHasItsPlace) {
  constexpr uint64_t kRows = 5000;
  Hdf5File file;
  std::vector<std::string> images;
  for (uint64_t i = 0; i < kRows; ++i) images.push_back(Jpeg(4, static_cast<char>('a' + i % 26)));
  file.AddNumbers("label", Range(kRows), {.chunk = {1}});
  file.AddLists("image", images, {.chunk = {1}});
  const Files files = {{"a.h5", file.Bytes()}};
  const auto store = std::make_shared<WatchedStore>(files);
  const auto opened = Hdf5Dataset::Open({}, store, {{"a.h5", files.at("a.h5").size(), ""}},
                                        {.name = "pets", .program = STOKER_TEST_HDF5_CHILD});
  ASSERT_TRUE(opened.ok()) << opened.status();
  for (uint64_t id = 0; id < kRows; id += 7) {
    EXPECT_EQ(NumberOf<int64_t>(**opened, id, "label"), static_cast<int64_t>(id));
    EXPECT_EQ(Value(**opened, id, "image"), images[id]);
  }
  EXPECT_THAT(ReadsOf(**opened, 4999, *store), IsSupersetOf({kReferenceBytes, uint64_t{8}}));
}

TEST(Hdf5DatasetTest, ListsOfNothingAreBadSamples) {
  Hdf5File file;
  file.AddLists("image", {Jpeg(5), "", Jpeg(7)});
  const auto opened = Open({{"a.h5", file.Bytes()}});
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_THAT(Value(**opened, 1, "image"), HasSubstr("pets: a.h5:1: the dataset image: is null, or a list of nothing"));
  EXPECT_EQ(Value(**opened, 2, "image"), Jpeg(7));
}

TEST(Hdf5DatasetTest, AFileThatChangedIsAnErrorThatNamesIt) {
  Hdf5File file;
  file.AddLists("image", std::vector<std::string>(9, Jpeg(200000)));
  const Files files = {{"a.h5", file.Bytes()}};
  const auto store = std::make_shared<WatchedStore>(files);
  const auto opened = Hdf5Dataset::Open({}, store, {{"a.h5", files.at("a.h5").size(), ""}},
                                        {.name = "pets", .program = STOKER_TEST_HDF5_CHILD});
  ASSERT_TRUE(opened.ok()) << opened.status();
  store->has_changed = true;
  SampleBytes sample;
  const absl::Status read = (*opened)->Read(8, sample);  // which nobody has read yet
  EXPECT_EQ(read.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(read.message(), HasSubstr("pets: a.h5:8: a.h5: changed since it was indexed; restore the object"));
  store->has_changed = false;
  EXPECT_EQ(Value(**opened, 8, "image"), Jpeg(200000));
}

TEST(Hdf5DatasetTest, ListsOfBytesAreTextOrBytesWhereTheyAreAskedFor) {
  for (const bool is_compressed : {false, true}) {
    Hdf5File file;
    file.AddLists("notes", {"a cat", "", "\xff"}, {.chunk = {2}, .is_compressed = is_compressed});
    Opening opening;
    v1::FieldFrom& from = (*opening.config.mutable_fields())["x"];
    from.set_from("/notes");
    from.set_kind(v1::FIELD_KIND_TEXT);
    from.set_max_bytes("64");
    const auto text = Open({{"a.h5", file.Bytes()}}, opening);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ((*text)->schema()[0].kind, SourceField::Kind::kRows);
    EXPECT_EQ(Value(**text, 0, "x"), "a cat");
    EXPECT_EQ(Value(**text, 1, "x"), "");
    EXPECT_THAT(Value(**text, 2, "x"), HasSubstr("a.h5:2: the dataset notes: is not UTF-8"));
    from.set_kind(v1::FIELD_KIND_BYTES);
    const auto bytes = Open({{"a.h5", file.Bytes()}}, opening);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    EXPECT_EQ(Value(**bytes, 2, "x"), "\xff");
    EXPECT_NE((*bytes)->fingerprint(), (*text)->fingerprint());
  }
}

}  // namespace
}  // namespace stoker
