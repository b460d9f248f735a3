#include "server/read/child/child_pool.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {

absl::StatusOr<ChildAnswer> ChildPool::Ask(const std::vector<std::span<const uint8_t>>& parts, uint64_t most_bytes,
                                           const ChildProcess::Fetch& fetch) {
  absl::Status fetched;
  ChildProcess::Fetch noting;
  if (fetch != nullptr)
    noting = [&](uint64_t offset, std::span<uint8_t> into) { return fetched = fetch(offset, into); };
  auto answer = AskOne(parts, most_bytes, noting);
  if (fetched.ok() && (absl::IsAborted(answer.status()) || absl::IsUnavailable(answer.status())))
    answer = AskOne(parts, most_bytes, noting);
  if (!fetched.ok()) return fetched;
  if (absl::IsAborted(answer.status()))
    return absl::DataLossError(absl::StrCat("the process that read it ", answer.status().message()));
  if (absl::IsNotFound(answer.status())) return answer.status();
  if (!answer.ok()) return absl::UnavailableError(absl::StrCat("the process that read it ", answer.status().message()));
  switch (answer->verdict) {
    case ChildVerdict::kDone: break;
    case ChildVerdict::kNoMemory:
      return absl::DataLossError(absl::StrCat("reading it takes more than the ",
                                              options_.process.address_space_bytes >> 20, " MiB that it may take"));
    case ChildVerdict::kRefused:
      return absl::DataLossError(ShortPrintableName({reinterpret_cast<const char*>(answer->data.get()), answer->size}));
  }
  return answer;
}

int ChildPool::started() const {
  absl::MutexLock lock(&mutex_);
  return started_;
}

absl::StatusOr<ChildAnswer> ChildPool::AskOne(const std::vector<std::span<const uint8_t>>& parts, uint64_t most_bytes,
                                              const ChildProcess::Fetch& fetch) {
  STOKER_ASSIGN_OR_RETURN(auto child, Take());
  auto answer = child->Ask(parts, most_bytes, fetch);
  if (!answer.ok()) child.reset();
  Return(std::move(child));
  return answer;
}

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildPool::Take() {
  {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &ChildPool::HasFree));
    if (!idle_.empty()) {
      auto child = std::move(idle_.back());
      idle_.pop_back();
      return child;
    }
    ++children_;
    ++started_;
  }
  auto child = ChildProcess::Start(options_.process);
  if (!child.ok()) Return(nullptr);
  return child;
}

void ChildPool::Return(std::unique_ptr<ChildProcess> child) {
  absl::MutexLock lock(&mutex_);
  if (child == nullptr) {
    --children_;
  } else {
    idle_.push_back(std::move(child));
  }
}

}  // namespace stoker
