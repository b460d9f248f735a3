#ifndef STOKER_TESTS_UNIT_COMMON_OPS_DRAWN_OPS_H_
#define STOKER_TESTS_UNIT_COMMON_OPS_DRAWN_OPS_H_

#include <string>
#include <vector>

#include "common/ops/ops.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {

// An op from protobuf's text format.
inline v1::Op ParseOp(const std::string& text) {
  v1::Op op;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &op)) << text;
  return op;
}

// What a valid op draws for a position of a fixed seed, its output size checked against OutputSize.
inline std::vector<OpParameters> Drawn(const v1::Op& op, ImageSize size, uint64_t position = 0) {
  EXPECT_TRUE(ValidateOp(op).ok()) << ValidateOp(op);
  std::vector<OpParameters> parameters;
  const std::optional<ImageSize> expected = OutputSize(op, size);
  const absl::Status status = DrawOp(op, {.seed = 1, .position = position}, size, parameters);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(!expected.has_value() || *expected == size) << op.ShortDebugString();
  return parameters;
}

inline std::vector<OpParameters> Drawn(const std::string& op, ImageSize size, uint64_t position = 0) {
  return Drawn(ParseOp(op), size, position);
}

// The FailedPrecondition of an image that the op cannot take.
inline std::string Refusal(const std::string& op, ImageSize size) {
  std::vector<OpParameters> parameters;
  const absl::Status status = DrawOp(ParseOp(op), {}, size, parameters);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << op;
  return std::string(status.message());
}

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_COMMON_OPS_DRAWN_OPS_H_
