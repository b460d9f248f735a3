#ifndef STOKER_SERVER_CONFIG_EFFECTIVE_H_
#define STOKER_SERVER_CONFIG_EFFECTIVE_H_

#include "server/config/settings.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Returns `config` with those defaults written out that `settings`, which was resolved of it, has of this machine. It
// resolves to the same settings. A configuration holds no secrets, but names of files that do.
v1::ServerConfig EffectiveConfig(const v1::ServerConfig& config, const Settings& settings);

}  // namespace stoker

#endif  // STOKER_SERVER_CONFIG_EFFECTIVE_H_
