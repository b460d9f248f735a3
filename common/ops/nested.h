#ifndef STOKER_COMMON_OPS_NESTED_H_
#define STOKER_COMMON_OPS_NESTED_H_

#include <vector>

#include "common/identity/draws.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// The ops inside of a RandomApply or RandomChoice; null for others.
const google::protobuf::RepeatedPtrField<v1::Op>* NestedTransforms(const v1::Op& op);

// Which of them happen, by the key of the op that they stand in, which is valid.
std::vector<bool> ChosenTransforms(const v1::Op& op, const DrawKey& key);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_NESTED_H_
