#include "server/plugin/python_room.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

// What stands in front for each image.
struct Slot {
  uint32_t result, place, text_bytes, stop;
};

constexpr size_t kTextsAt = PythonRoom::kMostImages * sizeof(Slot);
static_assert(PythonRoom::kImagesAt % 64 == 0);

}  // namespace

absl::StatusOr<std::unique_ptr<PythonRoom>> PythonRoom::Create() {
  const int descriptor = memfd_create("stoker-ops-room", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void* memory = MAP_FAILED;
  // Nobody can take away what the other reads.
  if (descriptor >= 0 && ftruncate(descriptor, kBytes) == 0 &&
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
    memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory != MAP_FAILED)
    return std::unique_ptr<PythonRoom>(new PythonRoom(descriptor, static_cast<uint8_t*>(memory)));
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  return absl::InternalError(absl::StrCat("cannot make shared memory for ops in Python: ", std::strerror(error)));
}

PythonRoom::~PythonRoom() {
  munmap(memory_, kBytes);
  close(descriptor_);
}

void PythonRoom::Clear() { std::memset(memory_, 0, kTextsAt); }

void PythonRoom::Stop() { memory_[offsetof(Slot, stop)] = 1; }

size_t PythonRoom::Done() const {
  size_t done = 0;
  // The process writes meanwhile.
  while (done < kMostImages && *reinterpret_cast<const volatile uint32_t*>(memory_ + done * sizeof(Slot)) != 0) ++done;
  return done;
}

PythonRoom::Result PythonRoom::Read(std::span<const uint8_t> head, size_t i) {
  STOKER_CHECK(head.size() >= kImagesAt && i < kMostImages);
  Slot slot;
  std::memcpy(&slot, head.data() + i * sizeof slot, sizeof slot);
  Result result;
  result.in_place = slot.place != 0;
  switch (slot.result) {
    case 0: return result;
    case 1: result.kind = Result::Kind::kOk; return result;
    case 2: result.kind = Result::Kind::kBadSample; break;
    default: result.kind = Result::Kind::kFailed; break;
  }
  const auto text = head.subspan(kTextsAt + i * kTextBytes, std::min<size_t>(slot.text_bytes, kTextBytes));
  result.text = PrintableName({reinterpret_cast<const char*>(text.data()), text.size()});
  return result;
}

}  // namespace stoker
