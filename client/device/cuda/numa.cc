#include "client/device/cuda/numa.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>

namespace stoker {

int NumaNodeOfPciDevice(const std::string& id, const std::string& folder) {
  if (id.empty()) return -1;
  std::ifstream file(folder + "/" + id + "/numa_node");
  int node = -1;
  return file >> node ? node : -1;
}

// These are bare system calls, since glibc has no functions for them and libnuma would be one more library to need.
PreferredNumaNode::PreferredNumaNode(int node) {
  if (node < 0 || node >= kNodes) return;
  if (syscall(SYS_get_mempolicy, &mode_before_, nodes_before_, kNodes, nullptr, 0) != 0) return;
  uint64_t nodes[kWords] = {};
  nodes[node / 64] = uint64_t{1} << node % 64;
  set_ = syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes, kNodes) == 0;
}

PreferredNumaNode::~PreferredNumaNode() {
  if (!set_) return;
  const bool by_default = mode_before_ == MPOL_DEFAULT;
  syscall(SYS_set_mempolicy, mode_before_, by_default ? nullptr : nodes_before_, by_default ? 0 : kNodes);
}

}  // namespace stoker
