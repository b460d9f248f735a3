#include "server/main/config_watch.h"

#include <utility>

namespace stoker {
namespace {

constexpr absl::Duration kPause = absl::Seconds(1);

}  // namespace

ConfigWatch::ConfigWatch(const std::string& path, std::function<void()> changed)
    : changed_(std::move(changed)), file_(path), periodic_(kPause, [this] { Look(); }) {}

void ConfigWatch::Look() {
  const auto other = file_.Refresh();
  if (!other.ok()) return;  // It is being replaced, or is gone: what was read stays in use.
  if (!*other && is_new_) changed_();
  is_new_ = *other;
}

}  // namespace stoker
