#include "client/loader/loader.h"

// Fails unless the installed headers and libraries agree: a loader without servers says so.
int main() {
  const auto loader = stoker::Loader::Create({.servers = {}, .batch_size = 1});
  return absl::IsInvalidArgument(loader.status()) ? 0 : 1;
}
