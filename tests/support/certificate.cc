#include "tests/support/certificate.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace stoker {

void MakeCertificate(const std::string& prefix, const std::string& host) {
  const std::string command =
      absl::StrCat("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=stoker ",
                   "-addext subjectAltName=", host, " -keyout ", prefix, ".key -out ", prefix, ".crt 2>/dev/null");
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

}  // namespace stoker
