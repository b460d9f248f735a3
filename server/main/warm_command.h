#ifndef STOKER_SERVER_MAIN_WARM_COMMAND_H_
#define STOKER_SERVER_MAIN_WARM_COMMAND_H_

#include <string>
#include <vector>

#include "stoker/v1/config.pb.h"

namespace stoker {

// `stokerd warm`: reads the datasets of `config` that lie on slow storage into the disk of its raw cache: those called
// `names`, or all where none is named. Shows progress on stderr and prints what became of it. Returns the process's
// exit status: 0 where the disk has all of them; 1 for an error, which it has printed, and where samples failed or did
// not fit; or 128 + the signal that ended it.
int RunWarm(const v1::ServerConfig& config, const std::vector<std::string>& names);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_WARM_COMMAND_H_
