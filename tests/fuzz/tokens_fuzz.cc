// Fuzzes the file of tokens' hashes. Whatever is taken has identities that logs can show, and no token is the empty
// one's by chance.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/request/identity.h"
#include "server/request/tokens.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tokens = stoker::Tokens::Parse(text);
  if (!tokens.ok()) return 0;
  if (tokens->size() > size / 66) std::abort();
  if (const auto identity = tokens->Find("secret"); identity.has_value() && !stoker::ValidateIdentity(*identity).ok())
    std::abort();
  return 0;
}
