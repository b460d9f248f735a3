#ifndef STOKER_CLIENT_FLEET_DATASET_INDEX_H_
#define STOKER_CLIENT_FLEET_DATASET_INDEX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/fleet/client.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// What the servers know of a job's dataset without reading its samples, asked for page by page. Each call blocks for
// the answers. Thread-safe.
//
// Errors are those of Client::Describe; InvalidArgument where the dataset's index has no labels; FailedPrecondition
// where a server answers of other data than the job's, or is too old to answer.
class DatasetIndex {
 public:
  // `subset` is the job's. `description` is what the servers said of it.
  DatasetIndex(Client* client, std::string dataset, v1::Subset subset, const v1::DescribeResponse& description)
      : client_(client),
        dataset_(std::move(dataset)),
        subset_(std::move(subset)),
        dataset_fingerprint_(description.dataset_fingerprint().empty() ? description.identity().fingerprint()
                                                                       : description.dataset_fingerprint()),
        subset_fingerprint_(description.identity().fingerprint()) {}

  // The names of the classes, each at the place that its label says; none where labels have no names.
  absl::StatusOr<std::vector<std::string>> Classes() const;

  // The labels of the job's samples in the order of their ids, which is that of an epoch without shuffling.
  absl::StatusOr<std::vector<v1::LabelRun>> Labels() const;

  // The names of samples, in the order of `ids`. InvalidArgument names an id that the dataset lacks.
  absl::StatusOr<std::vector<std::string>> Names(const std::vector<uint64_t>& ids) const;

 private:
  absl::Status Check(const absl::Status& status) const;
  absl::Status CheckFingerprint(const std::string& found, const std::string& expected) const;

  Client* const client_;
  const std::string dataset_;
  const v1::Subset subset_;
  const std::string dataset_fingerprint_, subset_fingerprint_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_FLEET_DATASET_INDEX_H_
