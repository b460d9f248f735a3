#ifndef STOKER_SERVER_PLUGIN_PYTHON_BATCH_H_
#define STOKER_SERVER_PLUGIN_PYTHON_BATCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/ops/own_batch.h"
#include "server/plugin/python_op.h"
#include "server/plugin/python_processes.h"

namespace stoker {

// Images that wait for ops in Python, in a room that a process of Python shares. It takes a process while it runs only.
class PythonBatch : public OwnBatch {
 public:
  // Takes `room` over, which is one of `processes`.
  PythonBatch(std::shared_ptr<PythonProcesses> processes, int room)
      : processes_(std::move(processes)), number_(room), room_(processes_->room(room)) {}
  ~PythonBatch() override { processes_->GiveBackRoom(number_); }

  uint8_t* Add(const OwnParameters& own, ImageSize size) override;
  size_t size() const override { return images_.size(); }
  bool full() const override;
  void Truncate(size_t count) override;
  void Run(const std::function<bool()>& stop) override;
  absl::StatusOr<uint8_t*> Made(size_t i) const override;

 private:
  struct Image {
    const PythonOp* op = nullptr;
    std::string values;
    DrawKey key;
    ImageSize size, size_after;
    size_t in = 0, out = 0, end = 0;  // where it lies, where the result goes if the size changes, and where both end
  };

  size_t end() const { return images_.empty() ? PythonRoom::kImagesAt : images_.back().end; }

  const std::shared_ptr<PythonProcesses> processes_;
  const int number_;
  PythonRoom& room_;
  std::vector<Image> images_;
  std::vector<PythonRoom::Result> results_;
  absl::Status status_;  // for the first image without a result
};

}  // namespace stoker

#endif  // STOKER_SERVER_PLUGIN_PYTHON_BATCH_H_
