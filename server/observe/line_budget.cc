#include "server/observe/line_budget.h"

#include <algorithm>

namespace stoker {

std::optional<uint64_t> LineBudget::Take(const std::string& host, const std::string& kind) {
  const auto now = now_();
  absl::MutexLock lock(&mutex_);
  const std::pair key(host, kind);
  auto found = accounts_.find(key);
  if (found == accounts_.end()) {
    if (accounts_.size() >= kMostKeys)
      accounts_.erase(std::min_element(accounts_.begin(), accounts_.end(), [](const auto& a, const auto& b) {
        return a.second.refilled < b.second.refilled;
      }));
    found = accounts_.emplace(key, Account{.refilled = now}).first;
  }
  Account& account = found->second;
  const auto earned = (now - account.refilled) / kPause;
  if (earned > 0) {
    account.left = static_cast<int>(std::min<int64_t>(kBurst, account.left + earned));
    account.refilled += earned * kPause;
  }
  if (account.left == 0) {
    ++account.suppressed;
    return std::nullopt;
  }
  --account.left;
  return std::exchange(account.suppressed, 0);
}

}  // namespace stoker
