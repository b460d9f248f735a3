#ifndef STOKER_TESTS_UNIT_CLIENT_LOADER_FAKE_DEVICE_H_
#define STOKER_TESTS_UNIT_CLIENT_LOADER_FAKE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client/device/device.h"

namespace stoker {

class FakeSlab : public HostSlab {
 public:
  explicit FakeSlab(uint64_t bytes) : bytes_(bytes) {}
  std::span<uint8_t> bytes() override { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// A device that keeps what it was given, and whose memory ends after so many slabs. Single owner.
class FakeDevice : public Device {
 public:
  DeviceId id() const override { return {}; }

  absl::StatusOr<std::unique_ptr<HostSlab>> AllocateSlab(uint64_t bytes, bool needed) override {
    if (allocated >= (needed ? memory_for : preferred_for)) return absl::ResourceExhaustedError("no memory");
    ++allocated;
    return std::make_unique<FakeSlab>(bytes);
  }

  absl::StatusOr<std::vector<Tensor>> Submit(const DevicePipeline& pipeline, const HostBatch& batch) override {
    if (!status.ok()) return status;
    positions.assign(batch.positions.begin(), batch.positions.end());
    submitted = batch;
    return std::vector<Tensor>{{.name = "made"}};
  }

  bool Reclaim() override {
    if (kept.empty()) return false;
    kept.pop_back();
    return true;
  }

  int allocated = 0;
  int preferred_for = 100, memory_for = 100;  // Slabs of the preferred kind of memory, and of any.
  absl::Status status;
  std::optional<HostBatch> submitted;
  std::vector<uint64_t> positions;              // Those of `submitted`.
  std::vector<std::shared_ptr<HostSlab>> kept;  // Slabs that Reclaim lets go, the last one first.
};

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_CLIENT_LOADER_FAKE_DEVICE_H_
