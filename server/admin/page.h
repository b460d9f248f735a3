#ifndef STOKER_SERVER_ADMIN_PAGE_H_
#define STOKER_SERVER_ADMIN_PAGE_H_

#include <string_view>

namespace stoker {

// The text of page.html, which the build puts in here.
extern const std::string_view kAdminPage;

}  // namespace stoker

#endif  // STOKER_SERVER_ADMIN_PAGE_H_
