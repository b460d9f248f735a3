#include "server/prepare/output_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/config/yaml_proto.h"
#include "common/status_macros.h"
#include "google/protobuf/util/message_differencer.h"
#include "server/read/formats/folder/open_folder.h"
#include "server/read/formats/folder/prepared_folder.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr char kPartPrefix[] = ".prepare-", kPartSuffix[] = ".part";
constexpr char kMoreWords[] =
    "; name another --out, or replace what it holds by --overwrite, which leaves files of other names alone";

std::string PartOf(int writer) { return absl::StrCat(kPartPrefix, writer, kPartSuffix); }

absl::Status ErrnoError(const std::string& file, const char* action, int error) {
  return absl::UnavailableError(absl::StrCat(ShortPrintableName(file), ": ", action, ": ", ErrnoText(error)));
}

// Makes the folders above `file`, relative to `folder`.
absl::Status MakeFoldersAbove(int folder, const std::string& file) {
  for (size_t slash = file.find('/'); slash != std::string::npos; slash = file.find('/', slash + 1))
    if (mkdirat(folder, file.substr(0, slash).c_str(), 0777) != 0 && errno != EEXIST)
      return ErrnoError(file.substr(0, slash), "cannot make the folder", errno);
  return absl::OkStatus();
}

// True of the names of partly written files, which a killed run may leave in the folder.
bool IsPart(absl::string_view name) {
  return (absl::StartsWith(name, kPartPrefix) && absl::EndsWith(name, kPartSuffix)) ||
         (absl::StartsWith(name, absl::StrCat(kPreparedFile, ".")) && absl::EndsWith(name, ".tmp"));
}

absl::StatusOr<bool> IsEmpty(int descriptor) {
  STOKER_ASSIGN_OR_RETURN(OpenFolder folder, OpenFolder::At(descriptor, "."));
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const dirent* entry, folder.Next());
    if (entry == nullptr) return true;
    if (!IsPart(entry->d_name)) return false;
  }
}

// Keeps of `prepared` what a folder's files depend on.
v1::Prepared SettingsOf(v1::Prepared prepared) {
  prepared.clear_state();
  prepared.clear_folder_fingerprint();
  prepared.clear_tool();
  prepared.clear_problems();
  return prepared;
}

absl::string_view NameOf(v1::Prepared::ModeCase mode) {
  switch (mode) {
    case v1::Prepared::kLossless: return "losslessly";
    case v1::Prepared::kShortSide: return "with --short-side";
    case v1::Prepared::kPipeline: return "with --pipeline";
    case v1::Prepared::MODE_NOT_SET: break;
  }
  return "in no mode";
}

std::string FormatOf(const v1::Prepared& prepared) {
  return prepared.has_shards() ? absl::StrCat("with --format ", prepared.shards().format()) : "as a folder";
}

// Says what differs first, for an error ("from another source, or one that has changed since"). Empty if nothing does.
std::string Difference(const v1::Prepared& held, const v1::Prepared& wanted) {
  if (held.mode_case() != wanted.mode_case())
    return absl::StrCat(NameOf(held.mode_case()), ", not ", NameOf(wanted.mode_case()));
  if (FormatOf(held) != FormatOf(wanted)) return absl::StrCat(FormatOf(held), ", not ", FormatOf(wanted));
  if (held.source_fingerprint() != wanted.source_fingerprint())
    return "from another source, or one that has changed since";
  std::string text;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&text);
  if (differencer.Compare(SettingsOf(held), SettingsOf(wanted))) return "";
  return absl::StrCat("with other settings (", text.substr(0, text.find('\n')), ")");
}

}  // namespace

OutputFolder::OutputFolder(std::string path, Descriptor folder, const v1::Prepared& wanted)
    : path_(std::move(path)), folder_(std::move(folder)), prepared_(wanted) {}

absl::StatusOr<OutputFolder> OutputFolder::Open(const std::string& path, const v1::Prepared& wanted, bool overwrite) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return absl::UnavailableError(absl::StrCat("--out ", path, ": cannot make it: ", error.message()));
  auto descriptor = OpenAt(AT_FDCWD, path, O_DIRECTORY);
  if (!descriptor.ok()) return NamedError(absl::StrCat("--out ", path), descriptor.status());
  if (flock(descriptor->number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return absl::FailedPreconditionError(absl::StrCat("--out ", path, ": another stokerd prepare is at work on it"));
    return ErrnoError(absl::StrCat("--out ", path), "cannot lock it", errno);
  }
  const std::string canonical = std::filesystem::canonical(path, error);
  if (error) return absl::UnavailableError(absl::StrCat("--out ", path, ": ", error.message()));
  OutputFolder folder(canonical, *std::move(descriptor), wanted);
  const absl::Status taken = folder.TakeOver(overwrite);
  if (!taken.ok()) return absl::Status(taken.code(), absl::StrCat("--out ", path, ": ", taken.message()));
  return folder;
}

absl::Status OutputFolder::TakeOver(bool overwrite) {
  const auto held = ReadPrepared(path_);
  STOKER_ASSIGN_OR_RETURN(const bool empty, IsEmpty(folder_.number()));
  const bool same = held.ok() && held->has_value() && Difference(**held, prepared_).empty();
  const bool begun = same && (*held)->state() != v1::PREPARED_STATE_COMPLETE;
  prepared_.set_state(overwrite && !empty ? v1::PREPARED_STATE_CLEARING : v1::PREPARED_STATE_UNFINISHED);
  if (empty || (overwrite && !begun)) return absl::OkStatus();
  STOKER_RETURN_IF_ERROR(held.status());
  if (!held->has_value())
    return absl::FailedPreconditionError(
        absl::StrCat("is not empty, and holds no ", kPreparedFile, " of an earlier run", kMoreWords));
  if (const std::string difference = Difference(**held, prepared_); !difference.empty())
    return absl::FailedPreconditionError(absl::StrCat("was prepared ", difference, kMoreWords));
  prepared_ = **held;
  stored_ = true;
  return absl::OkStatus();
}

void OutputFolder::SetProblems(const google::protobuf::RepeatedPtrField<v1::PreparedProblem>& problems) {
  *prepared_.mutable_problems() = problems;
  stored_ = false;
}

absl::Status OutputFolder::SetState(v1::PreparedState state, const std::string& folder_fingerprint) {
  if (stored_ && state == prepared_.state() && folder_fingerprint == prepared_.folder_fingerprint())
    return absl::OkStatus();
  prepared_.set_state(state);
  prepared_.set_folder_fingerprint(folder_fingerprint);
  const std::string path = absl::StrCat(path_, "/", kPreparedFile);
  const absl::Status written = WriteFileAtomically(path, ToYaml(prepared_));
  if (!written.ok()) return NamedError(path, written);
  stored_ = true;
  return absl::OkStatus();
}

absl::Status OutputFolder::Put(int writer, const std::string& file, std::span<const uint8_t> bytes) const {
  const std::string part = PartOf(writer);
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
  Descriptor descriptor(openat(folder_.number(), part.c_str(), flags, 0666));
  if (descriptor.number() < 0) return ErrnoError(absl::StrCat(path_, "/", part), "cannot create", errno);
  absl::Status written = WriteAll(descriptor.number(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!written.ok()) return NamedError(absl::StrCat(path_, "/", file), written);
  if (close(descriptor.Release()) != 0) return ErrnoError(absl::StrCat(path_, "/", file), "cannot close", errno);
  const auto rename = [&] { return renameat(folder_.number(), part.c_str(), folder_.number(), file.c_str()); };
  if (rename() == 0) return absl::OkStatus();
  if (errno == ENOENT) {
    STOKER_RETURN_IF_ERROR(MakeFoldersAbove(folder_.number(), file));
    if (rename() == 0) return absl::OkStatus();
  }
  return ErrnoError(absl::StrCat(path_, "/", file), "cannot put it there", errno);
}

absl::Status OutputFolder::Remove(const std::string& file) const {
  if (unlinkat(folder_.number(), file.c_str(), 0) == 0 || errno == ENOENT) return absl::OkStatus();
  return ErrnoError(absl::StrCat(path_, "/", file), "cannot remove", errno);
}

absl::Status OutputFolder::RemoveParts() const {
  STOKER_ASSIGN_OR_RETURN(OpenFolder folder, OpenFolder::At(folder_.number(), "."));
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const dirent* entry, folder.Next());
    if (entry == nullptr) return absl::OkStatus();
    if (IsPart(entry->d_name)) STOKER_RETURN_IF_ERROR(Remove(entry->d_name));
  }
}

absl::Status OutputFolder::Sync() const {
  if (syncfs(folder_.number()) == 0) return absl::OkStatus();
  return ErrnoError(path_, "cannot sync", errno);
}

}  // namespace stoker
