#ifndef STOKER_SERVER_MAIN_ROLE_H_
#define STOKER_SERVER_MAIN_ROLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// What `stokerd serve --role auto` does on a machine of a heterogeneous SageMaker cluster, whose machines all run the
// same command: serve, or train from the machines that serve.
struct Role {
  bool serves = false;
  std::string group;                 // this machine's
  std::vector<std::string> servers;  // the hosts that serve, in the file's order
};

// Reads the resource configuration that SageMaker gives each machine, which is JSON: current_group_name and
// instance_groups, each with instance_group_name, instance_type and hosts. The groups named in `server_groups` serve;
// where none are named, those of instance types without accelerators (not ml.p…, ml.g…, ml.trn…, ml.inf…).
//
// InvalidArgument, with the key, for what is no such file, for a name that no group has, and where all groups or none
// would serve.
absl::StatusOr<Role> RoleOf(const std::string& resource_config, const std::vector<std::string>& server_groups);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_ROLE_H_
