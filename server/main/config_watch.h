#ifndef STOKER_SERVER_MAIN_CONFIG_WATCH_H_
#define STOKER_SERVER_MAIN_CONFIG_WATCH_H_

#include <functional>
#include <string>

#include "common/config/watched_file.h"
#include "common/time/periodic.h"

namespace stoker {

// Looks at the configuration's file once a second, on a thread of its own, and tells when it is another one: when it
// has stayed as it is for a second, since it may be written in parts.
class ConfigWatch {
 public:
  ConfigWatch(const std::string& path, std::function<void()> changed);

 private:
  void Look();

  const std::function<void()> changed_;
  WatchedFile file_;
  bool is_new_ = false;  // It changed at the look before.
  Periodic periodic_;    // Last: its thread uses the rest.
};

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_CONFIG_WATCH_H_
