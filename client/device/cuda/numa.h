#ifndef STOKER_CLIENT_DEVICE_CUDA_NUMA_H_
#define STOKER_CLIENT_DEVICE_CUDA_NUMA_H_

#include <cstdint>
#include <string>

namespace stoker {

// The NUMA node of a PCI device, as "0000:3b:00.0"; -1 where the machine does not tell.
int NumaNodeOfPciDevice(const std::string& id, const std::string& folder = "/sys/bus/pci/devices");

// While it lives, the thread's new pages come from `node` if that has any left; a negative node changes nothing. What
// held before holds again after it.
class PreferredNumaNode {
 public:
  explicit PreferredNumaNode(int node);
  ~PreferredNumaNode();
  PreferredNumaNode(const PreferredNumaNode&) = delete;
  PreferredNumaNode& operator=(const PreferredNumaNode&) = delete;

 private:
  static constexpr int kNodes = 1024;  // Of a usual kernel.
  static constexpr int kWords = kNodes / 64;

  bool set_ = false;
  int mode_before_ = 0;
  uint64_t nodes_before_[kWords] = {};
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_NUMA_H_
