#include "server/main/library_logs.h"

#include "grpc/support/log.h"
#include "spdlog/spdlog.h"

namespace stoker {

void TakeLibraryLogs() {
  gpr_set_log_function(
      [](gpr_log_func_args* said) { spdlog::debug("gRPC, {}:{}: {}", said->file, said->line, said->message); });
}

}  // namespace stoker
