#ifndef STOKER_CLIENT_CAPI_DOCUMENTS_H_
#define STOKER_CLIENT_CAPI_DOCUMENTS_H_

#include <string>
#include <vector>

#include "client/loader/batch.h"
#include "client/loader/loader.h"
#include "nlohmann/json.hpp"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Makes the JSON documents that stoker.h promises. Pure functions. Bytes that are no UTF-8 become U+FFFD.

// `message` with the keys and words of YAML (common/config). ParseYaml reads it back to an equal message.
nlohmann::ordered_json ToJson(const google::protobuf::Message& message);

std::string ListDocument(const v1::ListDatasetsResponse& list);
std::string DescribeDocument(const Loader& loader);
std::string StatsDocument(const LoaderStats& stats);
std::string SubstitutedDocument(const Batch& batch);
std::string NamesDocument(const std::vector<std::string>& names);
std::string LabelsDocument(const std::vector<v1::LabelRun>& labels);

}  // namespace stoker

#endif  // STOKER_CLIENT_CAPI_DOCUMENTS_H_
