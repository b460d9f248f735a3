#include "absl/strings/match.h"
#include "tests/bench/engine_ways.h"
#include "tests/bench/peer.h"

namespace stoker {

std::vector<Way> DebianPeers(const Photos& photos, const std::string& only) {
  const std::string name = "torchvision on PIL, Debian's";
  if (!absl::StrContains(name, only)) return {};
  return {PeerWay(name, "/usr/bin/python3", "torchvision_peer.py", {"pil"}, photos.paths)};
}

std::vector<Way> EnvironmentPeers(const Photos& photos, const std::string& only) {
  constexpr struct {
    const char *name, *script, *mode;
  } kPeers[] = {
      {"torchvision on PIL", "torchvision_peer.py", "pil"},
      {"torchvision.io", "torchvision_peer.py", "io"},
      {"OpenCV's cv2 linear", "cv2_peer.py", "linear"},
      {"OpenCV's cv2 area", "cv2_peer.py", "area"},
      {"Albumentations linear", "albumentations_peer.py", "linear"},
      {"Albumentations area", "albumentations_peer.py", "area"},
      {"DALI aliased", "dali_peer.py", "aliased"},
      {"DALI antialiased", "dali_peer.py", "antialiased"},
      {"tf.data aliased", "tfdata_peer.py", "aliased"},
      {"tf.data antialiased", "tfdata_peer.py", "antialiased"},
  };
  std::vector<Way> ways;
  for (const auto& [name, script, mode] : kPeers)
    if (absl::StrContains(name, only)) ways.push_back(PeerWay(name, PeersPython(), script, {mode}, photos.paths));
  return ways;
}

}  // namespace stoker
