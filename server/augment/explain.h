#ifndef STOKER_SERVER_AUGMENT_EXPLAIN_H_
#define STOKER_SERVER_AUGMENT_EXPLAIN_H_

#include <string>
#include <vector>

#include "common/fields/schema.h"
#include "common/pipeline/server_pipeline.h"

namespace stoker {

// Explains to people, line by line, how the server makes a sample's images: what it decodes, the passes that the ops
// became, and the ops that are left out.
//
// The lines tell the plan that one sample would really be made by. Its image is a photograph of usual size, or has the
// dataset's size where that is fixed. Every op that may happen does happen. Pure.
std::vector<std::string> Explain(const ServerPipeline& pipeline, const SourceSchema& schema);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_EXPLAIN_H_
