#include "server/read/formats/folder/prepared_folder.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/config/yaml_proto.h"
#include "common/identity/fingerprint.h"
#include "common/pipeline/pipeline.h"
#include "common/status_macros.h"

namespace stoker {

absl::StatusOr<std::optional<v1::Prepared>> ReadPrepared(const std::string& folder) {
  v1::Prepared prepared;
  const absl::Status status = ReadYamlFile(absl::StrCat(folder, "/", kPreparedFile), prepared);
  if (absl::IsNotFound(status)) return std::nullopt;
  STOKER_RETURN_IF_ERROR(status);
  return prepared;
}

absl::Status CheckServable(const v1::Prepared& prepared) {
  if (prepared.state() != v1::PREPARED_STATE_COMPLETE)
    return absl::FailedPreconditionError(
        "was not prepared to its end: run the same `stokerd prepare` again, which goes on where it stopped");
  if (prepared.has_pipeline() && prepared.pixel_version() != kPixelVersion)
    return absl::FailedPreconditionError(
        absl::StrCat("was prepared with pixel version ", prepared.pixel_version(), ", where this build has ",
                     kPixelVersion, " and makes other pixels: prepare it again, by stokerd prepare --overwrite"));
  return absl::OkStatus();
}

absl::StatusOr<std::string> PackedFingerprint(const v1::Prepared& prepared, const std::string& folder_fingerprint) {
  if (prepared.folder_fingerprint() != absl::BytesToHexString(folder_fingerprint))
    return absl::FailedPreconditionError(
        "has changed since it was prepared: files were added, removed or replaced; restore them, or prepare it again, "
        "by stokerd prepare --overwrite");
  Fingerprint fingerprint("stoker.prepared_folder.v1");
  fingerprint.AddBytes(folder_fingerprint);
  for (const std::string& part :
       {prepared.source_fingerprint(), prepared.pipeline().SerializeAsString(), prepared.pixel_check()}) {
    fingerprint.AddNumber(part.size());
    fingerprint.AddBytes(part);
  }
  fingerprint.AddNumber(prepared.pixel_version());
  return fingerprint.Finish();
}

absl::Status TakeOver(const v1::Prepared& prepared, SourceSchema& schema, std::string& fingerprint) {
  if (!prepared.has_pipeline()) return absl::OkStatus();
  STOKER_ASSIGN_OR_RETURN(fingerprint, PackedFingerprint(prepared, fingerprint));
  schema[0].prepared.assign(prepared.pipeline().ops().begin(), prepared.pipeline().ops().end());
  schema[0].prepared_settings = DecodeSettings(prepared.pipeline());
  return absl::OkStatus();
}

}  // namespace stoker
