#include "server/read/formats/hdf5/program/file_driver.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "server/read/child/serve.h"

namespace stoker {
namespace {

constexpr uint64_t kPageBytes = uint64_t{4} << 10;
constexpr uint64_t kPages = 256;
constexpr uint64_t kNoPage = ~uint64_t{0};

uint64_t fetched_file = 0;

// A ValueProbe's.
bool is_probing = false;
haddr_t probed_value = HADDR_UNDEF;

struct FileInfo {
  uint64_t number;
  uint64_t size;
};

struct Page {
  uint64_t number = kNoPage;
  std::unique_ptr<char[]> bytes;
};

struct File {
  H5FD_t base = {};  // the library's part, which has to be the first
  FileInfo info = {};
  haddr_t end_of_allocation = 0;
  std::array<Page, kPages> pages;  // of each number, at its place modulo their count
};

File& Ours(H5FD_t* file) { return *reinterpret_cast<File*>(file); }
const File& Ours(const H5FD_t* file) { return *reinterpret_cast<const File*>(file); }

H5FD_t* Open(const char*, unsigned flags, hid_t access, haddr_t) {
  const auto* info = static_cast<const FileInfo*>(H5Pget_driver_info(access));
  auto* file = info == nullptr || (flags & H5F_ACC_RDWR) != 0 ? nullptr : new (std::nothrow) File;
  if (file == nullptr) return nullptr;
  file->info = *info;
  return &file->base;
}

herr_t Close(H5FD_t* file) {
  delete &Ours(file);
  return 0;
}

int Compare(const H5FD_t* a, const H5FD_t* b) {
  const uint64_t one = Ours(a).info.number, other = Ours(b).info.number;
  return one < other ? -1 : one > other ? 1 : 0;
}

haddr_t EndOfAllocation(const H5FD_t* file, H5FD_mem_t) { return Ours(file).end_of_allocation; }

herr_t SetEndOfAllocation(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  Ours(file).end_of_allocation = end;
  return 0;
}

haddr_t EndOfFile(const H5FD_t* file, H5FD_mem_t) { return Ours(file).info.size; }

// Returns the page's bytes, of which those beyond the file's end mean nothing; null where there is no memory.
const char* PageOf(File& file, uint64_t number) {
  Page& page = file.pages[number % kPages];
  if (page.number == number) return page.bytes.get();
  if (page.bytes == nullptr) page.bytes.reset(new (std::nothrow) char[kPageBytes]);
  if (page.bytes == nullptr) return nullptr;
  const uint64_t begin = number * kPageBytes;
  FetchBytes(begin, page.bytes.get(), std::min(kPageBytes, file.info.size - begin));
  page.number = number;
  return page.bytes.get();
}

herr_t Read(H5FD_t* base, H5FD_mem_t type, hid_t, haddr_t address, size_t size, void* buffer) {
  File& file = Ours(base);
  if (file.info.number != fetched_file || address == HADDR_UNDEF || address > file.end_of_allocation ||
      size > file.end_of_allocation - address)
    return -1;
  auto* at = static_cast<char*>(buffer);
  if (is_probing && type == H5FD_MEM_DRAW) {
    if (probed_value == HADDR_UNDEF) probed_value = address;
    std::memset(at, 0, size);
    return 0;
  }
  // The library may read on beyond the end of a file.
  uint64_t there = address < file.info.size ? std::min<uint64_t>(size, file.info.size - address) : 0;
  if (there < size) std::memset(at + there, 0, size - there);
  if (there > 2 * kPageBytes) {
    FetchBytes(address, at, there);
    return 0;
  }
  while (there > 0) {
    const char* const page = PageOf(file, address / kPageBytes);
    if (page == nullptr) return -1;
    const uint64_t skipped = address % kPageBytes, some = std::min(there, kPageBytes - skipped);
    std::memcpy(at, page + skipped, some);
    at += some;
    address += some;
    there -= some;
  }
  return 0;
}

herr_t Write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, size_t, const void*) { return -1; }

H5FD_class_t DriverClass() {
  H5FD_class_t driver = {};
  driver.name = "stoker";
  driver.maxaddr = INT64_MAX;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(FileInfo);
  driver.open = Open;
  driver.close = Close;
  driver.cmp = Compare;
  driver.get_eoa = EndOfAllocation;
  driver.set_eoa = SetEndOfAllocation;
  driver.get_eof = EndOfFile;
  driver.read = Read;
  driver.write = Write;
  for (H5FD_mem_t& type : driver.fl_map) type = H5FD_MEM_DEFAULT;
  return driver;
}

}  // namespace

hid_t FileDriver() {
  static const H5FD_class_t driver = DriverClass();
  static const hid_t id = H5FDregister(&driver);
  return id;
}

void UseFile(hid_t access, uint64_t number, uint64_t size) {
  const FileInfo info = {number, size};
  H5Pset_driver(access, FileDriver(), &info);
}

void SetFetchedFile(uint64_t number) { fetched_file = number; }

ValueProbe::ValueProbe() {
  is_probing = true;
  probed_value = HADDR_UNDEF;
}

ValueProbe::~ValueProbe() { is_probing = false; }

haddr_t ValueProbe::Take() { return std::exchange(probed_value, HADDR_UNDEF); }

}  // namespace stoker
