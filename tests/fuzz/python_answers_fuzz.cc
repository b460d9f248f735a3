// Whatever a process of Python says of its ops, and leaves in memory of what became of images, a server finds what
// cannot be. The first byte says which: 0 for an offer, which follows; else what follows is a room, from its beginning.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "common/config/text.h"
#include "server/plugin/op_name.h"
#include "server/plugin/python_offer.h"
#include "server/plugin/python_room.h"

namespace stoker {
namespace {

void CheckOffer(std::string_view text) {
  const auto offers = ParseOffer(text);
  if (!offers.ok()) {
    STOKER_CHECK(absl::IsInvalidArgument(offers.status()) || absl::IsFailedPrecondition(offers.status()));
    return;
  }
  for (const PythonOffer& offer : *offers)
    STOKER_CHECK(IsOpName(offer.name) && offer.version > 0 && IsUtf8(offer.summary) && offer.arguments.size() <= 64);
}

void CheckRoom(std::span<const uint8_t> bytes) {
  std::vector<uint8_t> head(PythonRoom::kImagesAt);
  std::copy_n(bytes.begin(), std::min(bytes.size(), head.size()), head.begin());
  for (size_t i = 0; i < PythonRoom::kMostImages; ++i) {
    const PythonRoom::Result result = PythonRoom::Read(head, i);
    const bool wordless =
        result.kind == PythonRoom::Result::Kind::kOk || result.kind == PythonRoom::Result::Kind::kMissing;
    STOKER_CHECK(wordless ? result.text.empty() : IsUtf8(result.text));
    STOKER_CHECK(result.text.size() <= 4 * PythonRoom::kTextBytes);  // Each byte may be told as \xff.
  }
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  if (data[0] == 0) {
    stoker::CheckOffer({reinterpret_cast<const char*>(data) + 1, size - 1});
  } else {
    stoker::CheckRoom({data + 1, size - 1});
  }
  return 0;
}
