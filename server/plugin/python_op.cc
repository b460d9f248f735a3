#include "server/plugin/python_op.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/plugin/python_batch.h"
#include "server/plugin/trial.h"

namespace stoker {
namespace {

// So many sizes and verdicts are kept that were asked for once.
constexpr size_t kKept = 1000;

// An op is not tried with values by which it makes more.
constexpr int64_t kMostTrialPixels = int64_t{1} << 22;

// Writes a value as _values of _op_worker.py reads it.
struct Code {
  std::string& out;

  template <typename Number>
  void operator()(Number value) const {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(const std::string& value) const {
    (*this)(static_cast<uint32_t>(value.size()));
    out.append(value);
  }
  void operator()(const OwnField& field) const {
    (*this)(static_cast<uint32_t>(field.shape.size()));
    for (const int64_t extent : field.shape) (*this)(extent);
    out.append(field.bytes->begin(), field.bytes->end());
  }
};

}  // namespace

std::string PythonOp::CodeValues(const std::vector<OwnValue>& values) {
  static_assert(sizeof(bool) == 1);
  std::string coded;
  for (const OwnValue& value : values) std::visit(Code{coded}, value);
  return coded;
}

absl::Status PythonOp::Blame(const absl::Status& status) const {
  if (status.ok()) return status;
  return {absl::IsAborted(status) ? absl::StatusCode::kInternal : status.code(),
          absl::StrCat("own op '", name(), "': ", status.message())};
}

absl::Status PythonOp::Check(const std::vector<OwnValue>& values) const {
  constexpr ImageSize kSize = kTrialSize;
  const std::string coded = CodeValues(values);
  {
    const absl::MutexLock lock(&mutex_);
    if (good_.contains(coded)) return absl::OkStatus();
  }
  STOKER_ASSIGN_OR_RETURN(const ImageSize after, SizeAfter(values, kSize));
  if (after.height * after.width > kMostTrialPixels) return absl::OkStatus();  // The pipeline's bound says more.
  const std::vector<uint8_t> in(kSize.height * kSize.width * 3, 128);
  std::vector<uint8_t> out(after.height * after.width * 3);
  const absl::Status status = Run(values, {}, in.data(), kSize, out.data(), after);
  if (absl::IsAborted(status)) return absl::InvalidArgumentError(status.message());
  if (!status.ok() && !absl::IsDataLoss(status)) return status;
  const absl::MutexLock lock(&mutex_);
  if (good_.size() >= kKept) good_.clear();
  good_.insert(coded);
  return absl::OkStatus();
}

absl::StatusOr<ImageSize> PythonOp::SizeAfter(const std::vector<OwnValue>& values, ImageSize size) const {
  if (!changes_size()) return size;
  const std::string coded = CodeValues(values);
  const auto key = std::tuple(coded, size.height, size.width);
  {
    const absl::MutexLock lock(&mutex_);
    const auto known = sizes_.find(key);
    if (known != sizes_.end()) return known->second;
  }
  const auto after = processes_->With([&](PythonProcess& process) {
    return process.SizeAfter({number_, coded}, size);
  });
  if (absl::IsAborted(after.status())) return absl::FailedPreconditionError(Blame(after.status()).message());
  if (!after.ok()) return Blame(after.status());
  STOKER_RETURN_IF_ERROR(CheckSizeAfter(*this, size, *after));
  const absl::MutexLock lock(&mutex_);
  if (sizes_.size() >= kKept) sizes_.clear();
  sizes_.emplace(key, *after);
  return *after;
}

absl::Status PythonOp::Apply(const std::vector<OwnValue>& values, const DrawKey& key, const uint8_t* in, ImageSize size,
                             uint8_t* out, ImageSize size_after) const {
  return Blame(Run(values, key, in, size, out, size_after));
}

absl::Status PythonOp::Run(const std::vector<OwnValue>& values, const DrawKey& key, const uint8_t* in, ImageSize size,
                           uint8_t* out, ImageSize size_after) const {
  const std::string coded = CodeValues(values);
  return processes_->With([&](PythonProcess& process) {
    return process.Apply({number_, coded}, key, in, size, out, size_after);
  });
}

std::unique_ptr<OwnBatch> PythonOp::NewBatch() const {
  const int room = processes_->TakeRoom();
  return room < 0 ? nullptr : std::make_unique<PythonBatch>(processes_, room);
}

}  // namespace stoker
