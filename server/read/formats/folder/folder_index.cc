#include "server/read/formats/folder/folder_index.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/identity/fingerprint.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

// Checks the paths of the files [begin, end), which are all of one class.
bool PathsAreInOrder(const FileList& files, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i) {
    if (!StaysBelow(files.path(i)) || (i > begin && files.path(i - 1) >= files.path(i))) return false;
  }
  return true;
}

bool IsClassName(std::string_view name) {
  return StaysBelow(name) && name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

}  // namespace

int64_t FolderIndex::Label(uint64_t id) const {
  const auto found = std::upper_bound(classes.begin(), classes.end(), id,
                                      [](uint64_t sample, const ClassFolder& folder) { return sample < folder.end; });
  return found - classes.begin();
}

std::string FolderIndex::Path(uint64_t id) const {
  std::string path = classes[Label(id)].name;
  path += '/';
  return path += files.path(id);
}

bool FolderIndex::IsWellFormed() const {
  if (classes.empty() || classes.back().end != files.size()) return false;
  if (!files.RangesNest() || files.paths.find('\0') != std::string::npos) return false;
  uint64_t begin = 0;
  std::string_view previous;
  for (const ClassFolder& folder : classes) {
    if (folder.end <= begin || folder.end > files.size()) return false;
    if (!IsClassName(folder.name) || folder.name <= previous) return false;
    if (!PathsAreInOrder(files, begin, folder.end)) return false;
    begin = folder.end;
    previous = folder.name;
  }
  return true;
}

std::string FolderIndex::SkippedNote() const {
  if (skipped_files == 0) return "";
  return absl::StrCat("skipped ", skipped_files, " files that are not JPEG, PNG, WebP, BMP, PNM or TIFF, such as '",
                      ShortPrintableName(skipped_example), "'");
}

uint64_t FolderIndex::resident_bytes() const {
  uint64_t bytes = files.resident_bytes() + classes.capacity() * sizeof(ClassFolder);
  for (const ClassFolder& folder : classes) bytes += folder.name.capacity();
  return bytes + skipped_example.capacity();
}

absl::Status CheckClasses(const std::string& root, const FolderIndex& index) {
  const std::string note = index.skipped_files > 0 ? absl::StrCat(" (", index.SkippedNote(), ")") : "";
  if (index.files.size() == 0)
    return NamedError(
        root, absl::InvalidArgumentError(absl::StrCat("no class folder holds a JPEG, PNG, WebP, BMP, PNM or TIFF file",
                                                      note, "; ", kClassLayout)));
  uint64_t begin = 0, empty = 0;
  std::string first;
  for (const FolderIndex::ClassFolder& folder : index.classes) {
    if (folder.end == begin && empty++ == 0) first = ShortPrintableName(folder.name);
    begin = folder.end;
  }
  if (empty == 0) return absl::OkStatus();
  const std::string others = empty > 1 ? absl::StrCat(" and ", empty - 1, " more") : "";
  return NamedError(root, absl::InvalidArgumentError(absl::StrCat("class folder '", first, "'", others,
                                                                  " without a JPEG, PNG, WebP, BMP, PNM or TIFF file",
                                                                  note, "; fill or remove it: ", kClassLayout)));
}

std::string FolderFingerprint(const FolderIndex& index) {
  Fingerprint fingerprint("stoker.image_folder.v1");
  fingerprint.AddNumber(index.files.size());
  uint64_t id = 0;
  for (uint64_t label = 0; label < index.classes.size(); ++label) {
    const FolderIndex::ClassFolder& folder = index.classes[label];
    for (; id < folder.end; ++id) {
      const std::string_view path = index.files.path(id);
      fingerprint.AddNumber(folder.name.size() + 1 + path.size());
      fingerprint.AddBytes(folder.name);
      fingerprint.AddBytes("/");
      fingerprint.AddBytes(path);
      fingerprint.AddNumber(index.files.sizes[id]);
      fingerprint.AddNumber(label);
    }
  }
  return fingerprint.Finish();
}

}  // namespace stoker
