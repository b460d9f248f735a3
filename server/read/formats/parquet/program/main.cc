// stoker-parquet: takes Parquet files apart for stokerd, which starts it and gives it their bytes. See messages.h.

#include <arrow/memory_pool.h>
#include <arrow/util/cpu_info.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "server/read/binary.h"
#include "server/read/child/serve.h"
#include "server/read/formats/parquet/program/decode.h"
#include "server/read/formats/parquet/program/footer.h"

namespace stoker {
namespace {

ChildReply Answer(std::span<const uint8_t> bytes) {
  const std::string_view message(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!message.empty() && message[0] == 'f') {
    BinaryReader reader(message.substr(1));
    const std::string_view footer = reader.GetBytes();
    if (!reader.done()) throw std::runtime_error("this is no request");
    return {ChildVerdict::kDone, SerializeFooter(DescribeFooter(footer))};
  }
  DecodeRequest request;
  std::string_view ranges;
  if (!ParseRequest(message, request, ranges)) throw std::runtime_error("this is no request");
  return {ChildVerdict::kDone, DecodeColumns(request, ranges)};
}

}  // namespace
}  // namespace stoker

int main() {
  // What Arrow finds out of the machine, it does now: later nothing can be read.
  arrow::internal::CpuInfo::GetInstance();
  arrow::default_memory_pool();
  return stoker::ServeRequests(stoker::Answer);
}
