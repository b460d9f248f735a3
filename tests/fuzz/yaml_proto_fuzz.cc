// ParseYaml on any text: an error that names its file on one line of UTF-8, or a message that protobuf carries and that
// ToYaml prints such that it reads back equal.
//
// Input: a byte that chooses the message, then the text.

#include <string>
#include <string_view>

#include "common/check.h"
#include "common/config/text.h"
#include "common/config/yaml_proto.h"
#include "google/protobuf/util/message_differencer.h"
#include "stoker/v1/config.pb.h"

namespace stoker {
namespace {

using google::protobuf::Message;
using google::protobuf::util::MessageDifferencer;

void CheckError(const absl::Status& status) {
  STOKER_CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  STOKER_CHECK(message.starts_with("f.yaml:"));
  STOKER_CHECK(IsUtf8(message));
  for (char c : message) STOKER_CHECK(static_cast<unsigned char>(c) >= ' ');
}

void CheckText(std::string_view text, Message& message, Message& again) {
  const absl::Status status = ParseYaml(text, "f.yaml", message);
  if (!status.ok()) return CheckError(status);
  STOKER_CHECK(again.ParseFromString(message.SerializeAsString()));
  STOKER_CHECK(MessageDifferencer::Equals(message, again));
  STOKER_CHECK(ParseYaml(ToYaml(message), "again.yaml", again).ok());
  STOKER_CHECK(MessageDifferencer::Equals(message, again));
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  stoker::v1::ServerConfig config, config_again;
  stoker::v1::Pipeline pipeline, pipeline_again;
  if (data[0] == 'p') {
    stoker::CheckText(text, pipeline, pipeline_again);
  } else {
    stoker::CheckText(text, config, config_again);
  }
  return 0;
}
