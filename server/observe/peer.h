#ifndef STOKER_SERVER_OBSERVE_PEER_H_
#define STOKER_SERVER_OBSERVE_PEER_H_

#include <string>

namespace stoker {

// Returns the host of a gRPC peer: "ipv4:10.0.0.1" of "ipv4:10.0.0.1:5000". Peers by a Unix socket are all one.
inline std::string HostOfPeer(const std::string& peer) {
  const size_t colon = peer.rfind(':');
  const bool has_port = colon != std::string::npos && colon != peer.find(':');
  return has_port ? peer.substr(0, colon) : peer.substr(0, peer.find(':'));
}

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_PEER_H_
