#include "server/main/role.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "nlohmann/json.hpp"

namespace stoker {
namespace {

struct Group {
  std::string name, type;
  std::vector<std::string> hosts;
};

absl::Status Invalid(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("--role auto: the resource configuration ", what));
}

bool HasAccelerators(const std::string& type) {
  const auto begins = [&type](const char* family) { return absl::StartsWith(type, family); };
  return begins("ml.p") || begins("ml.g") || begins("ml.trn") || begins("ml.inf");
}

absl::StatusOr<std::string> Text(const nlohmann::json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end() || !found->is_string()) return Invalid(absl::StrCat("has no text '", key, "'"));
  return found->get<std::string>();
}

absl::StatusOr<std::vector<Group>> GroupsOf(const nlohmann::json& document) {
  const auto list = document.is_object() ? document.find("instance_groups") : document.end();
  if (list == document.end() || !list->is_array())
    return Invalid("has no list 'instance_groups': is this a heterogeneous cluster?");
  std::vector<Group> groups;
  for (const nlohmann::json& one : *list) {
    Group group;
    STOKER_ASSIGN_OR_RETURN(group.name, Text(one, "instance_group_name"));
    STOKER_ASSIGN_OR_RETURN(group.type, Text(one, "instance_type"));
    const auto hosts = one.find("hosts");
    if (hosts == one.end() || !hosts->is_array()) return Invalid("has a group without 'hosts'");
    for (const nlohmann::json& host : *hosts) {
      if (!host.is_string()) return Invalid("has a host that is no text");
      group.hosts.push_back(host.get<std::string>());
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

absl::StatusOr<Role> RoleOf(const std::string& resource_config, const std::vector<std::string>& server_groups) {
  const auto document = nlohmann::json::parse(resource_config, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return Invalid("is no JSON");
  Role role;
  STOKER_ASSIGN_OR_RETURN(role.group, Text(document, "current_group_name"));
  STOKER_ASSIGN_OR_RETURN(const std::vector<Group> groups, GroupsOf(document));
  const auto named = [&groups](const std::string& name) {
    return std::any_of(groups.begin(), groups.end(), [&name](const Group& group) { return group.name == name; });
  };
  std::vector<std::string> wanted = server_groups;
  wanted.push_back(role.group);
  for (const std::string& name : wanted)
    if (!named(name))
      return Invalid(absl::StrCat(
          "has no group '", name, "'; there are: ",
          absl::StrJoin(groups, ", ", [](std::string* out, const Group& group) { absl::StrAppend(out, group.name); })));
  size_t serving = 0;
  for (const Group& group : groups) {
    const bool is_named = std::find(server_groups.begin(), server_groups.end(), group.name) != server_groups.end();
    if (server_groups.empty() ? HasAccelerators(group.type) : !is_named) continue;
    ++serving;
    role.serves = role.serves || group.name == role.group;
    role.servers.insert(role.servers.end(), group.hosts.begin(), group.hosts.end());
  }
  if (serving == 0) return Invalid("has accelerators in every group; name those that serve by --server-group");
  if (serving == groups.size() && !server_groups.empty())
    return Invalid("has no group that --server-group leaves out, so that none would train");
  if (serving == groups.size())
    return Invalid(
        "has no accelerators in any group, so that none would train; name those that serve by --server-group");
  return role;
}

}  // namespace stoker
