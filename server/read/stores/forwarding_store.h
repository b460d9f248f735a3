#ifndef STOKER_SERVER_READ_STORES_FORWARDING_STORE_H_
#define STOKER_SERVER_READ_STORES_FORWARDING_STORE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/stores/store.h"

namespace stoker {

// A store on top of another one, which does all that the class derived from this does not do by itself.
class ForwardingStore : public Store {
 public:
  std::string description() const override { return below_->description(); }
  std::string identity() const override { return below_->identity(); }
  bool is_remote() const override { return below_->is_remote(); }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing& listing) override { return below_->List(listing); }
  absl::StatusOr<std::vector<std::string>> Folders() override { return below_->Folders(); }
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override {
    return below_->Describe(names);
  }
  void Read(const Range& range, Done done) override { below_->Read(range, std::move(done)); }

 protected:
  explicit ForwardingStore(std::shared_ptr<Store> below) : below_(std::move(below)) {}

  Store& below() const { return *below_; }

 private:
  const std::shared_ptr<Store> below_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_FORWARDING_STORE_H_
