#ifndef STOKER_SERVER_AUGMENT_EXPLAIN_H_
#define STOKER_SERVER_AUGMENT_EXPLAIN_H_

#include <string>
#include <vector>

#include "common/fields/schema.h"
#include "common/pipeline/server_pipeline.h"

namespace stoker {

// How the server makes a sample's images, a line each, for people: what it decodes, the passes that the ops became,
// and those that are left out. Of a photograph of usual size, or of the dataset's where that is fixed; every op that
// may happen does. It is the plan that such a sample would be made by. Pure.
std::vector<std::string> Explain(const ServerPipeline& pipeline, const SourceSchema& schema);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_EXPLAIN_H_
