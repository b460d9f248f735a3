#include "server/admin/admin_server.h"

#include <civetweb.h>

#include <array>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace stoker {
namespace {

// Threads that answer. A scrape takes milliseconds.
constexpr char kThreads[] = "8";
constexpr char kTimeoutMs[] = "2000";  // of a request, so that who sends nothing holds no thread for long

constexpr std::string_view kBearer = "Bearer ";
constexpr size_t kMostValueBytes = 512;  // of a query

// Whether both are equal; how long that takes tells nothing of where they differ.
bool AreEqual(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differs = 0;
  for (size_t i = 0; i < a.size(); ++i) differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differs == 0;
}

// Returns the value of `name` in the query of a URL; "" where there is none, or more than kMostValueBytes.
std::string ValueOf(std::string_view query, const char* name) {
  std::array<char, kMostValueBytes> value = {};
  const int bytes = mg_get_var(query.data(), query.size(), name, value.data(), value.size());
  return bytes < 0 ? "" : std::string(value.data(), static_cast<size_t>(bytes));
}

const char* Reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    default: return "Error";
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<AdminServer>> AdminServer::Start(Options options) {
  std::unique_ptr<AdminServer> server(new AdminServer(std::move(options)));
  const std::string host = server->options_.host == "localhost" ? "127.0.0.1" : server->options_.host;
  const std::string listen = absl::StrCat(host, ":", server->options_.port);
  const char* const settings[] = {"listening_ports", listen.c_str(),      "num_threads", kThreads, "request_timeout_ms",
                                  kTimeoutMs,        "enable_keep_alive", "no",          nullptr};
  mg_init_library(0);
  const mg_callbacks callbacks = {};
  server->context_ = mg_start(&callbacks, nullptr, const_cast<const char**>(settings));
  if (server->context_ == nullptr)
    return absl::UnavailableError(
        absl::StrCat("admin.listen: cannot listen on ", listen, "; is it taken by another process?"));
  mg_server_port port = {};
  if (mg_get_server_ports(server->context_, 1, &port) != 1)
    return absl::UnavailableError(absl::StrCat("admin.listen: cannot listen on ", listen));
  server->address_ = absl::StrCat(server->options_.host, ":", port.port);
  mg_set_request_handler(server->context_, "/", OnRequest, server.get());
  return server;
}

AdminServer::~AdminServer() {
  if (context_ != nullptr) mg_stop(context_);
  mg_exit_library();
}

AdminServer::Page AdminServer::Answer(const mg_connection* connection) const {
  const mg_request_info* const request = mg_get_request_info(connection);
  const std::string path = request->local_uri == nullptr ? "" : request->local_uri;
  const auto route = options_.routes.find(path);
  const std::string_view method = request->request_method;
  if (method != "GET" && method != "HEAD") return {.status = 405, .body = "this address answers GET alone\n"};
  const bool is_open = options_.token.empty() || (route != options_.routes.end() && route->second.is_open);
  if (!is_open) {
    const char* const given = mg_get_header(connection, "Authorization");
    const std::string_view text = given == nullptr ? "" : given;
    if (!text.starts_with(kBearer) || !AreEqual(text.substr(kBearer.size()), options_.token))
      return {.status = 401, .body = "send the token of admin.token_file: Authorization: Bearer …\n"};
  }
  if (route != options_.routes.end()) {
    const std::string_view query = request->query_string == nullptr ? "" : request->query_string;
    return route->second.make([query](const char* name) { return ValueOf(query, name); });
  }
  std::vector<std::string> paths;
  for (const auto& [known, unused] : options_.routes) paths.push_back(known);
  return {.status = 404, .body = absl::StrCat("there is no such page; there are ", absl::StrJoin(paths, ", "), "\n")};
}

int AdminServer::OnRequest(mg_connection* connection, void* server) {
  Page page;
  try {  // CivetWeb is C.
    page = static_cast<AdminServer*>(server)->Answer(connection);
  } catch (const std::exception& error) {
    page = {.status = 500, .body = "this page could not be made\n"};
  }
  const bool has_body = std::strcmp(mg_get_request_info(connection)->request_method, "HEAD") != 0;
  const std::string head = absl::StrCat("HTTP/1.1 ", page.status, " ", Reason(page.status),
                                        "\r\nContent-Type: ", page.type, "\r\nContent-Length: ", page.body.size(),
                                        "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n",
                                        page.headers, page.status == 401 ? "WWW-Authenticate: Bearer\r\n" : "",
                                        page.status == 405 ? "Allow: GET, HEAD\r\n" : "", "Connection: close\r\n\r\n");
  mg_write(connection, head.data(), head.size());
  if (has_body) mg_write(connection, page.body.data(), page.body.size());
  return page.status;
}

}  // namespace stoker
