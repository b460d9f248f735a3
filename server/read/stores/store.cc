#include "server/read/stores/store.h"

#include "absl/synchronization/notification.h"

namespace stoker {

absl::StatusOr<std::vector<std::string>> Store::Folders() {
  return absl::UnimplementedError("this store cannot list folders alone");
}

absl::Status ReadNow(Store& store, const Store::Range& range) {
  absl::Notification done;
  absl::Status status;
  store.Read(range, [&](const absl::Status& read) {
    status = read;
    done.Notify();
  });
  done.WaitForNotification();
  return status;
}

}  // namespace stoker
