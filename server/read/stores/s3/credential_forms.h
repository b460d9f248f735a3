#ifndef STOKER_SERVER_READ_STORES_S3_CREDENTIAL_FORMS_H_
#define STOKER_SERVER_READ_STORES_S3_CREDENTIAL_FORMS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/read/stores/s3/credentials.h"

namespace stoker {

// The forms that credentials come in. All functions are pure, and any bytes are safe to parse. Errors show none of
// them.

// Returns the settings of one section of a file such as ~/.aws/credentials: "[default]" or, in ~/.aws/config, "[profile
// NAME]". What is nested below a setting is left out. Empty where there is no such section.
std::map<std::string, std::string> ProfileOf(absl::string_view file, absl::string_view profile);

// Parses what the metadata service of an instance or a container says in JSON.
absl::StatusOr<S3Credentials> ParseMetadata(const std::string& json);

// Parses what AssumeRoleWithWebIdentity answers in XML.
absl::StatusOr<S3Credentials> ParseAssumedRole(const std::string& xml);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_S3_CREDENTIAL_FORMS_H_
