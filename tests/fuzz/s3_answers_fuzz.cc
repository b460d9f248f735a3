// Fuzzes what S3 and the services that give credentials answer, and files of profiles. No answer makes more objects
// than it has bytes, and no name has a NUL.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "server/read/stores/s3/credential_forms.h"
#include "server/read/stores/s3/list_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto answer = stoker::ParseListAnswer(text); answer.ok()) {
    if (answer->objects.size() > size) std::abort();
    for (const auto& object : answer->objects)
      if (object.name.empty() || object.name.find('\0') != std::string::npos) std::abort();
  }
  for (const auto& credentials : {stoker::ParseMetadata(text), stoker::ParseAssumedRole(text)})
    if (credentials.ok() && credentials->token.find('\n') != std::string::npos) std::abort();
  if (stoker::ProfileOf(text, "default").size() > size) std::abort();
  return 0;
}
