#include "server/main/health_command.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
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
  HttpRequest request = {.direct = true};
  absl::string_view socket = host;
  const bool local = absl::ConsumePrefix(&socket, "unix:");
  const std::string address = local ? "localhost" : absl::StrCat(host, ":", admin.port);
  if (local) request.unix_socket = std::string(socket);
  request.url = absl::StrCat("http://", address, path);
  request.name = local ? absl::StrCat(host, " ", path) : address + path;
  STOKER_ASSIGN_OR_RETURN(const HttpResponse response, client.Fetch(std::move(request)));
  return response.body;
}

}  // namespace stoker
