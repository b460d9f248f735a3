#ifndef STOKER_SERVER_MAIN_ADMIN_PAGES_H_
#define STOKER_SERVER_MAIN_ADMIN_PAGES_H_

#include <map>
#include <string>
#include <vector>

#include "server/admin/admin_server.h"
#include "server/main/server.h"
#include "server/observe/metrics.h"

namespace stoker {

// What a server's admin address answers: see docs/operations.md. The pages refer to the server.
std::map<std::string, AdminServer::Route> AdminPages(Server& server);

// Figures of the server's workers and caches, beside what its streams count.
std::vector<Figure> ServerFigures(Server& server);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_ADMIN_PAGES_H_
