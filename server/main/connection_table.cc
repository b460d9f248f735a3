#include "server/main/connection_table.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace stoker {

uint64_t ConnectionTable::OpenInode(int descriptor) {
  struct stat status = {};
  return fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

ConnectionTable::Verdict ConnectionTable::Take(int descriptor, const std::string& peer) {
  // A descriptor that is given out again was closed.
  if (const auto earlier = connections_.find(descriptor); earlier != connections_.end()) Forget(earlier);
  if (connections_.size() >= limits_.connections) return Verdict::kTooMany;
  if (!peer.empty()) {
    size_t& count = of_peer_[peer];
    if (count >= limits_.connections_per_peer) return Verdict::kTooManyOfPeer;
    ++count;
  }
  connections_.emplace(descriptor, Connection{inode_of_(descriptor), peer});
  return Verdict::kTaken;
}

size_t ConnectionTable::Sweep() {
  const size_t before = connections_.size();
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    const auto next = std::next(connection);
    if (inode_of_(connection->first) != connection->second.inode) Forget(connection);
    connection = next;
  }
  return before - connections_.size();
}

void ConnectionTable::Forget(std::unordered_map<int, Connection>::iterator connection) {
  if (const auto peer = of_peer_.find(connection->second.peer); peer != of_peer_.end() && --peer->second == 0)
    of_peer_.erase(peer);
  connections_.erase(connection);
}

std::string PeerOf(const void* address) {
  char text[INET6_ADDRSTRLEN] = "";
  const auto* any = static_cast<const sockaddr*>(address);
  if (any->sa_family == AF_INET) {
    const in_addr host = static_cast<const sockaddr_in*>(address)->sin_addr;
    return inet_ntop(AF_INET, &host, text, sizeof text);
  }
  if (any->sa_family != AF_INET6) return "";
  in6_addr host = static_cast<const sockaddr_in6*>(address)->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&host)) return inet_ntop(AF_INET, &host.s6_addr[12], text, sizeof text);
  if (IN6_IS_ADDR_LOOPBACK(&host)) return "::1";
  std::fill(&host.s6_addr[8], &host.s6_addr[16], 0);
  return absl::StrCat(inet_ntop(AF_INET6, &host, text, sizeof text), "/64");
}

}  // namespace stoker
