#ifndef STOKER_SERVER_PLUGIN_PYTHON_OP_H_
#define STOKER_SERVER_PLUGIN_PYTHON_OP_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/ops/loaded_ops.h"
#include "server/plugin/python_offer.h"
#include "server/plugin/python_processes.h"

namespace stoker {

// An op in Python. Each call takes a process that is free, or starts another one.
class PythonOp : public LoadedOp {
 public:
  // `number` is its place in what `processes` offer.
  PythonOp(std::shared_ptr<PythonProcesses> processes, uint32_t number, PythonOffer offer)
      : processes_(std::move(processes)), number_(number), offer_(std::move(offer)) {}

  const std::string& name() const override { return offer_.name; }
  uint32_t version() const override { return offer_.version; }
  const std::string& summary() const override { return offer_.summary; }
  std::string made_of() const override { return offer_.made_of; }
  const std::vector<Argument>& arguments() const override { return offer_.arguments; }
  bool changes_size() const override { return offer_.changes_size; }

  // Python has no function that checks values: the op is tried with them, and what it raises is what is wrong.
  absl::Status Check(const std::vector<OwnValue>& values) const override;

  absl::StatusOr<ImageSize> SizeAfter(const std::vector<OwnValue>& values, ImageSize size) const override;

  absl::Status Apply(const std::vector<OwnValue>& values, const DrawKey& key, const uint8_t* in, ImageSize size,
                     uint8_t* out, ImageSize size_after) const override;

  std::unique_ptr<OwnBatch> NewBatch() const override;
  uint64_t batch_bytes() const override { return PythonRoom::kBytes; }

  const PythonProcesses* processes() const { return processes_.get(); }
  uint32_t number() const { return number_; }

  // Returns values as a process reads them.
  static std::string CodeValues(const std::vector<OwnValue>& values);

  // Returns what LoadedOp promises for an error of a process.
  absl::Status Blame(const absl::Status& status) const;

 private:
  // PythonProcess::Apply's errors.
  absl::Status Run(const std::vector<OwnValue>& values, const DrawKey& key, const uint8_t* in, ImageSize size,
                   uint8_t* out, ImageSize size_after) const;

  const std::shared_ptr<PythonProcesses> processes_;
  const uint32_t number_;
  const PythonOffer offer_;
  mutable absl::Mutex mutex_;
  mutable std::map<std::tuple<std::string, int64_t, int64_t>, ImageSize> sizes_ ABSL_GUARDED_BY(mutex_);
  mutable std::set<std::string> good_ ABSL_GUARDED_BY(mutex_);  // values that Check found good
};

}  // namespace stoker

#endif  // STOKER_SERVER_PLUGIN_PYTHON_OP_H_
