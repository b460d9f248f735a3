#include "server/plugin/python_ops.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/status_macros.h"
#include "nlohmann/json.hpp"
#include "server/plugin/trial.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr int kProtocol = 1;  // _PROTOCOL of _op_worker.py

// So many sizes and verdicts are kept that were asked for once.
constexpr size_t kKept = 1000;

// An op is not tried with values by which it makes more.
constexpr int64_t kMostTrialPixels = int64_t{1} << 22;

// The processes that run one server's ops. Thread-safe.
class Processes {
 public:
  Processes(std::vector<std::string> files, PythonOptions options)
      : files_(std::move(files)), options_(std::move(options)) {}

  // Starts as many as the options want, at once, and returns what they offer.
  //
  // It is called before all else.
  absl::StatusOr<std::string> Warm() {
    std::vector<absl::Status> statuses(std::max(options_.processes, 1));
    std::vector<std::thread> threads;
    threads.reserve(statuses.size());
    for (absl::Status& status : statuses)
      threads.emplace_back([this, &status] {
        auto process = PythonProcess::Start(options_, files_);
        status = process.status();
        if (process.ok()) GiveBack(*std::move(process));
      });
    for (std::thread& thread : threads) thread.join();
    for (const absl::Status& status : statuses) STOKER_RETURN_IF_ERROR(status);
    const absl::MutexLock lock(&mutex_);
    offer_ = free_.front()->offer();
    for (const auto& process : free_)
      if (process->offer() != offer_)
        return absl::FailedPreconditionError("the files of its ops changed while the server started; start it again");
    return offer_;
  }

  // Lends `use` a process, and returns what it returns. A process that had ended before gets another one's turn.
  // Internal where none can be started any more.
  template <typename Use>
  auto With(Use use) -> decltype(use(std::declval<PythonProcess&>())) {
    std::unique_ptr<PythonProcess> process = Take();
    while (process != nullptr && !process->Runs()) process = Take();
    if (process == nullptr) {
      auto started = PythonProcess::Start(options_, files_);
      if (!started.ok()) return absl::InternalError(started.status().message());
      process = *std::move(started);
      if (process->offer() != offer_)
        return absl::InternalError("the files of its ops have changed since the server started; restart the server");
    }
    auto result = use(*process);
    if (process->usable()) GiveBack(std::move(process));
    return result;
  }

 private:
  // Takes the one that was used last, whose memory is warm.
  std::unique_ptr<PythonProcess> Take() {
    const absl::MutexLock lock(&mutex_);
    if (free_.empty()) return nullptr;
    auto process = std::move(free_.back());
    free_.pop_back();
    return process;
  }

  void GiveBack(std::unique_ptr<PythonProcess> process) {
    const absl::MutexLock lock(&mutex_);
    free_.push_back(std::move(process));
  }

  const std::vector<std::string> files_;
  const PythonOptions options_;
  std::string offer_;  // what they all offer; set once, by Warm
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<PythonProcess>> free_ ABSL_GUARDED_BY(mutex_);
};

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
};

std::string CodeValues(const std::vector<OwnValue>& values) {
  static_assert(sizeof(bool) == 1);
  std::string coded;
  for (const OwnValue& value : values) std::visit(Code{coded}, value);
  return coded;
}

class PythonOp : public LoadedOp {
 public:
  PythonOp(std::shared_ptr<Processes> processes, uint32_t number, const Json& offer)
      : processes_(std::move(processes)),
        number_(number),
        name_(offer.at("name").get<std::string>()),
        file_(offer.at("file").get<std::string>()),
        version_(offer.at("version").get<uint32_t>()),
        summary_(offer.at("summary").get<std::string>()),
        made_of_(offer.at("made_of").get<std::string>()),
        changes_size_(offer.at("changes_size").get<bool>()) {
    for (const Json& argument : offer.at("arguments"))
      arguments_.push_back(
          {argument.at("name").get<std::string>(), ValueOf(argument), argument.at("required").get<bool>()});
  }

  const std::string& name() const override { return name_; }
  const std::string& file() const { return file_; }
  uint32_t version() const override { return version_; }
  const std::string& summary() const override { return summary_; }
  std::string made_of() const override { return made_of_; }
  const std::vector<Argument>& arguments() const override { return arguments_; }
  bool changes_size() const override { return changes_size_; }

  // Python has no function that checks values: the op is tried with them, and what it raises is what is wrong.
  absl::Status Check(const std::vector<OwnValue>& values) const override {
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

  absl::StatusOr<ImageSize> SizeAfter(const std::vector<OwnValue>& values, ImageSize size) const override {
    if (!changes_size_) return size;
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
    if (absl::IsAborted(after.status())) return absl::FailedPreconditionError(Blame(after.status()));
    if (!after.ok()) return absl::Status(after.status().code(), Blame(after.status()));
    STOKER_RETURN_IF_ERROR(CheckSizeAfter(*this, size, *after));
    const absl::MutexLock lock(&mutex_);
    if (sizes_.size() >= kKept) sizes_.clear();
    sizes_.emplace(key, *after);
    return *after;
  }

  absl::Status Apply(const std::vector<OwnValue>& values, const DrawKey& key, const uint8_t* in, ImageSize size,
                     uint8_t* out, ImageSize size_after) const override {
    const absl::Status status = Run(values, key, in, size, out, size_after);
    if (status.ok()) return status;
    return {absl::IsAborted(status) ? absl::StatusCode::kInternal : status.code(), Blame(status)};
  }

 private:
  // PythonProcess::Apply's errors.
  absl::Status Run(const std::vector<OwnValue>& values, const DrawKey& key, const uint8_t* in, ImageSize size,
                   uint8_t* out, ImageSize size_after) const {
    const std::string coded = CodeValues(values);
    return processes_->With([&](PythonProcess& process) {
      return process.Apply({number_, coded}, key, in, size, out, size_after);
    });
  }

  static OwnValue ValueOf(const Json& argument) {
    const std::string type = argument.at("type").get<std::string>();
    const Json& value = argument.at("default");
    if (type == "float") return value.get<double>();
    if (type == "int") return value.get<int64_t>();
    if (type == "bool") return value.get<bool>();
    return value.get<std::string>();
  }

  std::string Blame(const absl::Status& status) const {
    return absl::StrCat("own op '", name_, "': ", status.message());
  }

  const std::shared_ptr<Processes> processes_;
  const uint32_t number_;
  const std::string name_, file_;
  const uint32_t version_;
  const std::string summary_, made_of_;
  const bool changes_size_;
  std::vector<Argument> arguments_;
  mutable absl::Mutex mutex_;
  mutable std::map<std::tuple<std::string, int64_t, int64_t>, ImageSize> sizes_ ABSL_GUARDED_BY(mutex_);
  mutable std::set<std::string> good_ ABSL_GUARDED_BY(mutex_);  // values that Check found good
};

}  // namespace

absl::StatusOr<LoadedOps> LoadPythonOps(const std::vector<std::string>& files, const PythonOptions& options) try {
  LoadedOps ops;
  if (files.empty()) return ops;
  const auto processes = std::make_shared<Processes>(files, options);
  STOKER_ASSIGN_OR_RETURN(const std::string text, processes->Warm());
  const Json offer = Json::parse(text);
  if (offer.contains("error")) return absl::InvalidArgumentError(offer["error"].get<std::string>());
  if (offer.at("protocol").get<int>() != kProtocol)
    return absl::FailedPreconditionError(
        absl::StrCat("the package stoker of '", options.python, "' is of another version than this server"));
  for (const Json& op : offer.at("ops"))
    ops.push_back(std::make_unique<PythonOp>(processes, static_cast<uint32_t>(ops.size()), op));
  return ops;
} catch (const Json::exception& error) {
  return absl::FailedPreconditionError(
      absl::StrCat("'", options.python, "' describes its ops in a way that this server does not know: ", error.what()));
}

}  // namespace stoker
