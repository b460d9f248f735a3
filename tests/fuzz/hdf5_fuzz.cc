// Fuzzes HDF5: u8 what, then
//   0  what a child says of a file's datasets
//   1  what a server asks of a child
//   2  a file, which stoker-hdf5 takes apart where it is built; the first rows of every dataset are read, or an error
//   3  a file, opened as a dataset, whose first samples are read, or an error
//   4  what a child says of where rows lie
//   5  a reference to an object of the global heap, and a file

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/read/formats/hdf5/global_heap.h"
#include "server/read/formats/hdf5/hdf5_dataset.h"
#include "server/read/formats/hdf5/hdf5_reader.h"
#include "server/read/formats/hdf5/messages.h"
#include "tests/fuzz/memory_store.h"

namespace stoker {
namespace {

constexpr uint64_t kMostRows = 20;
constexpr absl::Duration kCpuTime = absl::Milliseconds(1);  // is 2 s in all: time is counted in whole seconds

void FuzzColumns(std::string_view message) {
  std::vector<Hdf5Column> columns;
  if (ParseHdf5Columns(message, columns) && SerializeHdf5Columns(columns) != message) std::abort();
}

void FuzzPlaces(std::string_view message) {
  std::vector<Hdf5Places> places;
  if (ParsePlaces(message, places) && SerializePlaces(places) != message) std::abort();
}

void FuzzHeap(std::string_view input) {
  if (input.size() < kReferenceBytes) return;
  std::array<uint8_t, kReferenceBytes> reference;
  std::copy_n(input.begin(), kReferenceBytes, reference.begin());
  input.remove_prefix(kReferenceBytes);
  MemoryStore store({{"f.h5", {input.begin(), input.end()}}}, false);
  const ObjectInfo file = store.Object("f.h5");
  std::vector<uint8_t> value;
  (void)ReadHeapObject(store, file, ParseHeapReference(reference), value);
  if (value.size() > input.size()) std::abort();
}

void FuzzRequest(std::string_view message) {
  Hdf5Request request;
  if (ParseRequest(message, request) && SerializeRequest(request) != message) std::abort();
}

// A store that has one file, which changes.
class OneFile final : public Store {
 public:
  void Hold(std::string_view file) {
    held_ = std::make_unique<MemoryStore>(MemoryStore::Objects{{"f.h5", {file.begin(), file.end()}}}, false);
  }
  ObjectInfo Object() const { return held_->Object("f.h5"); }

  std::string description() const override { return held_->description(); }
  bool is_remote() const override { return false; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing& listing) override { return held_->List(listing); }
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override {
    return held_->Describe(names);
  }
  void Read(const Range& range, Done done) override { held_->Read(range, std::move(done)); }

 private:
  std::unique_ptr<MemoryStore> held_;
};

void FuzzFile(std::string_view file) {
  static const auto store = std::make_shared<OneFile>();
  static Hdf5Reader reader(store, Hdf5Reader::DefaultProgram(), 1, kCpuTime);
  static uint64_t number = 0;
  store->Hold(file);
  const ObjectInfo object = store->Object();
  ++number;  // The child keeps files open by their numbers.
  const auto columns = reader.Describe({number, &object});
  if (!columns.ok()) return;
  for (const Hdf5Column& column : *columns)
    if (column.type != ColumnType::kOther)
      (void)reader.Read({number, &object}, {column.path}, 0, std::min(column.rows, kMostRows));
}

void FuzzDataset(std::string_view file) {
  const auto store = std::make_shared<OneFile>();
  store->Hold(file);
  const auto opened = Hdf5Dataset::Open({}, store, {store->Object()}, {.threads = 1, .cpu_time = kCpuTime});
  SampleBytes sample;
  for (uint64_t id = 0; opened.ok() && id < std::min((*opened)->size(), kMostRows); ++id)
    (void)(*opened)->Read(id, sample);
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 6) {
    case 0: stoker::FuzzColumns(rest); break;
    case 1: stoker::FuzzRequest(rest); break;
    case 2: stoker::FuzzFile(rest); break;
    case 3: stoker::FuzzDataset(rest); break;
    case 4: stoker::FuzzPlaces(rest); break;
    default: stoker::FuzzHeap(rest); break;
  }
  return 0;
}
