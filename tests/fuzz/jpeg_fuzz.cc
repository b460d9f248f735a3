// See CheckDecoding. Input: the file.

#include "tests/fuzz/decode_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stoker::CheckDecoding({data, size});
  return 0;
}
