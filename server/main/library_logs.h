#ifndef STOKER_SERVER_MAIN_LIBRARY_LOGS_H_
#define STOKER_SERVER_MAIN_LIBRARY_LOGS_H_

namespace stoker {

// Takes what gRPC would write to stderr into our log, at debug level: what matters of it to an operator is said by the
// error that a call returns. GRPC_VERBOSITY chooses what gRPC says at all. Call it once, before gRPC is used.
void TakeLibraryLogs();

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_LIBRARY_LOGS_H_
