#ifndef STOKER_CLIENT_DEVICE_CUDA_NUMA_H_
#define STOKER_CLIENT_DEVICE_CUDA_NUMA_H_

#include <cstdint>
#include <string>

namespace stoker {

// Returns the NUMA node of the PCI device `id`, such as "0000:3b:00.0", or −1 if the machine does not tell.
int NumaNodeOfPciDevice(const std::string& id, const std::string& folder = "/sys/bus/pci/devices");

// While it lives, the thread's new pages come from `node`, as long as that has memory. A negative node changes nothing.
// The destructor restores the thread's former policy.
class PreferredNumaNode {
 public:
  explicit PreferredNumaNode(int node);
  ~PreferredNumaNode();
  PreferredNumaNode(const PreferredNumaNode&) = delete;
  PreferredNumaNode& operator=(const PreferredNumaNode&) = delete;

 private:
  static constexpr int kNodes = 1024;  // the most nodes that a usual kernel is built for
  static constexpr int kWords = kNodes / 64;

  bool set_ = false;
  int mode_before_ = 0;
  uint64_t nodes_before_[kWords] = {};
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_NUMA_H_
