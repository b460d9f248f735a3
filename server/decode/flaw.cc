#include "server/decode/flaw.h"

#include <string>

#include "absl/strings/cord.h"

namespace stoker {
namespace {

constexpr char kPayload[] = "stoker.decode.Flaw";  // its value is one character, from 'a' on

}  // namespace

absl::Status FlawError(Flaw flaw, absl::string_view message) {
  absl::Status status = absl::DataLossError(message);
  if (flaw != Flaw::kDamaged)
    status.SetPayload(kPayload, absl::Cord(std::string(1, static_cast<char>('a' + static_cast<int>(flaw)))));
  return status;
}

Flaw FlawOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  return payload.has_value() ? static_cast<Flaw>(std::string(*payload)[0] - 'a') : Flaw::kDamaged;
}

}  // namespace stoker
