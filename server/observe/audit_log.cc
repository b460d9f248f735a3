#include "server/observe/audit_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"

namespace stoker {
namespace {

constexpr size_t kMostNameBytes = 128;  // of a dataset's name, which a client may choose

std::string Described(const AuditLog::Who& who, const std::string& dataset) {
  const std::string identity =
      who.identity.empty() ? "nobody known" : absl::StrCat("'", who.identity, "' by ", who.proof);
  return absl::StrCat(identity, " at ", who.peer, ", dataset '", dataset.substr(0, kMostNameBytes), "'");
}

}  // namespace

AuditLog::AuditLog()
    : AuditLog(std::chrono::steady_clock::now, [](const std::string& line) { spdlog::info("{}", line); }) {}

void AuditLog::Opened(const Who& who, const std::string& dataset) {
  Write(/*opened=*/true, absl::StrCat("audit: stream opened: ", Described(who, dataset)));
}

void AuditLog::Refused(const Who& who, const std::string& dataset, const absl::Status& why) {
  Write(/*opened=*/false, absl::StrCat("audit: stream refused: ", Described(who, dataset), ": ", why.ToString()));
}

bool AuditLog::Take(Bucket& bucket, uint64_t& left_out) {
  const auto now = now_();
  const double seconds = std::chrono::duration<double>(now - bucket.filled).count();
  bucket.lines = std::min<double>(kBurst, bucket.lines + seconds * kLinesPerSecond);
  bucket.filled = now;
  if (bucket.lines < 1) {
    ++bucket.left_out;
    return false;
  }
  bucket.lines -= 1;
  left_out = std::exchange(bucket.left_out, 0);
  return true;
}

void AuditLog::Write(bool opened, const std::string& line) {
  uint64_t left_out = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (!Take(opened ? opened_ : refused_, left_out)) return;
  }
  sink_(left_out == 0 ? line : absl::StrCat(line, " (and ", left_out, " more before, which were not logged)"));
}

}  // namespace stoker
