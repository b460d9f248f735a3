#ifndef STOKER_CLIENT_RECEIVE_OBSTACLE_H_
#define STOKER_CLIENT_RECEIVE_OBSTACLE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace stoker {

// Why no connection to a server opens. A value.
struct Obstacle {
  std::string reason;  // In plain words, such as "name not found". Empty: a connection opens.

  // The other side said no: there is no such name, or nothing listens there. Else it may be the network's state of now.
  bool definite = false;

  // No time changes it, but somebody has to: a server may start yet where nothing listens, but what is said of
  // certificates was said by a server that is there.
  bool lasting = false;
};

// Finds out by itself why the server at `address`, as Resolve returns them, cannot be reached: looks its name up and
// connects. gRPC says that in words of its own, and of one of a name's addresses only. Blocks for as long as the
// resolver takes, and `patience` for connecting.
//
// Where a connection opens, `greet` may say what is wrong with it; it gets what opens another, whose socket does not
// block and is its own.
using Greet = std::function<Obstacle(const std::function<int()>& open, absl::Time deadline)>;
Obstacle FindObstacle(const std::string& address, absl::Duration patience, const Greet& greet = nullptr);

// What stands in the way where connecting to each of a server's addresses failed with one of the errno's `errors`; 0
// stands for an open connection. Requires at least one.
Obstacle ObstacleOf(const std::vector<int>& errors);

// The message of a call that gRPC failed with Unavailable, in the same plain words where it is one of gRPC's own of
// connecting; else as it is. For messages only: gRPC's words are no interface.
std::string PlainReason(const std::string& message);

}  // namespace stoker

#endif  // STOKER_CLIENT_RECEIVE_OBSTACLE_H_
