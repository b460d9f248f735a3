#include "server/main/health_command.h"

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/stores/curl/http_client.h"

namespace stoker {

absl::StatusOr<std::string> AskAdmin(const AdminSettings& admin, const std::string& path) {
  HttpLimits limits;
  limits.backend.reset();  // It is no storage.
  limits.requests = limits.tries = 1;
  limits.connect = absl::Seconds(2);
  limits.silence = absl::Seconds(3);
  limits.total = absl::Seconds(5);
  HttpClient client(limits);
  // A server that listens on all addresses is asked on the loopback.
  const std::string host = admin.host == "0.0.0.0" ? "127.0.0.1" : admin.host == "[::]" ? "[::1]" : admin.host;
  const std::string address = absl::StrCat(host, ":", admin.port);
  STOKER_ASSIGN_OR_RETURN(
      const HttpResponse response,
      client.Fetch({.url = absl::StrCat("http://", address, path), .name = address + path, .direct = true}));
  return response.body;
}

}  // namespace stoker
