#ifndef STOKER_SERVER_MAIN_CONNECTION_TABLE_H_
#define STOKER_SERVER_MAIN_CONNECTION_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

namespace stoker {

// Which connections are open, and whose. It bounds their number in all and for each peer.
//
// gRPC owns a connection's descriptor and does not say when it closes it. So the table remembers the inode of each
// socket: once the descriptor has another inode, or none, that connection has ended. Inodes of sockets are numbered as
// they are made, so one is not met again soon.
//
// One thread at a time.
class ConnectionTable {
 public:
  struct Limits {
    size_t connections = 0;           // in all
    size_t connections_per_peer = 0;  // of one peer; peers without a name have no such limit
  };

  // The inode of a descriptor, or 0 if it is not open. OpenInode, but for tests.
  using InodeOf = std::function<uint64_t(int descriptor)>;
  static uint64_t OpenInode(int descriptor);

  explicit ConnectionTable(const Limits& limits, InodeOf inode_of = OpenInode)
      : limits_(limits), inode_of_(std::move(inode_of)) {}

  enum class Verdict { kTaken, kTooMany, kTooManyOfPeer };

  // Counts the connection `descriptor`, which was just accepted from `peer`. If there are too many, it is not counted.
  Verdict Take(int descriptor, const std::string& peer);

  // Forgets the connections that ended since the last time, and returns their number. O(connections).
  size_t Sweep();

  size_t size() const { return connections_.size(); }

 private:
  struct Connection {
    uint64_t inode;
    std::string peer;
  };

  void Forget(std::unordered_map<int, Connection>::iterator connection);

  const Limits limits_;
  const InodeOf inode_of_;
  std::unordered_map<int, Connection> connections_;  // by descriptor
  std::map<std::string, size_t> of_peer_;
};

// Returns whose connection it is that comes from the `address` of a sockaddr: "10.0.0.1" for IPv4, the first 64 bits
// for IPv6, since one host may have all addresses below them, and nothing for a Unix socket.
std::string PeerOf(const void* address);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_CONNECTION_TABLE_H_
