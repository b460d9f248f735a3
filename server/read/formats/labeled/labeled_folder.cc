#include "server/read/formats/labeled/labeled_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/formats/labeled/label_table.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr char kLabelsKey[] = "labeled_folder.labels";

absl::Status LabelsError(const v1::LabeledFolder& config, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(kLabelsKey, ": ", ShortPrintableName(config.labels()), ": ", status.message()));
}

absl::StatusOr<std::vector<LabelRow>> ReadRows(const v1::LabeledFolder& config) {
  if (config.labels().empty()) return absl::InvalidArgumentError(absl::StrCat(kLabelsKey, ": missing"));
  std::ifstream file(config.labels(), std::ios::binary);
  if (!file)
    return LabelsError(
        config,
        absl::Status(errno == ENOENT ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable, ErrnoText(errno)));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const LabelColumns columns = {config.file_column(), config.label_column()};
  absl::StatusOr<std::vector<LabelRow>> rows =
      absl::InvalidArgumentError("expected a file whose name ends in .csv, .json or .jsonl");
  if (absl::EndsWithIgnoreCase(config.labels(), ".csv")) rows = ParseCsv(text, columns);
  if (absl::EndsWithIgnoreCase(config.labels(), ".json")) rows = ParseJson(text, columns);
  if (absl::EndsWithIgnoreCase(config.labels(), ".jsonl")) rows = ParseJsonLines(text, columns);
  if (!rows.ok()) return LabelsError(config, rows.status());
  if (rows->empty()) return LabelsError(config, absl::InvalidArgumentError("it lists no file"));
  for (const LabelRow& row : *rows)
    if (row.label.empty())
      return LabelsError(config, absl::InvalidArgumentError(absl::StrCat(
                                     "line ", row.line, ": '", ShortPrintableName(row.file), "' has no label")));
  return rows;
}

// Puts the rows into the bytewise order of their paths, and checks these.
absl::Status Sort(const v1::LabeledFolder& config, std::vector<LabelRow>& rows) {
  for (LabelRow& row : rows) {
    row.file += config.suffix();
    if (!StaysBelow(row.file) || row.file.find('\0') != std::string::npos)
      return LabelsError(
          config, absl::InvalidArgumentError(absl::StrCat("line ", row.line, ": '", ShortPrintableName(row.file),
                                                          "' is no path to below the folder, such as images/1.jpg")));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const LabelRow& a, const LabelRow& b) { return a.file < b.file; });
  const auto twice = std::adjacent_find(rows.begin(), rows.end(),
                                        [](const LabelRow& a, const LabelRow& b) { return a.file == b.file; });
  if (twice == rows.end()) return absl::OkStatus();
  return LabelsError(config,
                     absl::InvalidArgumentError(absl::StrCat("'", ShortPrintableName(twice->file), "' stands in line ",
                                                             twice->line, " and again in line ", (twice + 1)->line)));
}

// What is known of a row's file.
struct FileFacts {
  uint32_t bytes = 0;
  ModifiedSecond modified = 0;
};

absl::StatusOr<FileFacts> FactsOf(const Descriptor& folder, const std::string& path) {
  struct stat status;
  if (fstatat(folder.number(), path.c_str(), &status, 0) != 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return absl::Status(missing ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable, ErrnoText(errno));
  }
  if (!S_ISREG(status.st_mode)) return absl::InvalidArgumentError("it is not a regular file");
  if (static_cast<uint64_t>(status.st_size) > kMaxImageFileBytes)
    return absl::InvalidArgumentError(
        absl::StrCat(status.st_size, " bytes; images above ", kMaxImageFileBytes, " bytes are not read: leave it out"));
  return FileFacts{static_cast<uint32_t>(status.st_size), static_cast<ModifiedSecond>(status.st_mtim.tv_sec)};
}

// Looks at each row's file. The error is that of the first row in order that has one.
absl::StatusOr<std::vector<FileFacts>> LookAtFiles(const v1::LabeledFolder& config, const Descriptor& folder,
                                                   const std::vector<LabelRow>& rows, int threads) {
  std::vector<FileFacts> files(rows.size());
  std::vector<absl::Status> errors(threads);
  std::vector<size_t> places(threads, rows.size());  // of the first error that each thread met
  const auto look = [&](int thread) {
    for (size_t i = thread; i < rows.size(); i += threads) {
      const auto facts = FactsOf(folder, rows[i].file);
      if (facts.ok()) {
        files[i] = *facts;
        continue;
      }
      errors[thread] = facts.status();
      places[thread] = i;
      return;
    }
  };
  {
    std::vector<std::jthread> lookers;
    for (int thread = 1; thread < threads; ++thread) lookers.emplace_back(look, thread);
    look(0);
  }
  const auto first = std::min_element(places.begin(), places.end());
  if (*first == rows.size()) return files;
  const absl::Status& error = errors[first - places.begin()];
  const LabelRow& row = rows[*first];
  return LabelsError(
      config,
      absl::Status(error.code(), absl::StrCat("line ", row.line, ": '", ShortPrintableName(row.file), "' below ",
                                              ShortPrintableName(config.path()), ": ", error.message())));
}

// Finds each row's label. Gives names to the classes unless all labels are whole numbers.
std::vector<int64_t> LabelsOf(const std::vector<LabelRow>& rows, std::vector<std::string>& classes) {
  std::vector<int64_t> labels(rows.size());
  bool numbers = true;
  for (size_t i = 0; i < rows.size() && numbers; ++i) numbers = absl::SimpleAtoi(rows[i].label, &labels[i]);
  if (numbers) return labels;
  std::set<std::string> names;
  for (const LabelRow& row : rows) names.insert(row.label);
  classes.assign(names.begin(), names.end());
  for (size_t i = 0; i < rows.size(); ++i)
    labels[i] = std::lower_bound(classes.begin(), classes.end(), rows[i].label) - classes.begin();
  return labels;
}

std::string FingerprintOf(const FileList& files, const std::vector<int64_t>& labels,
                          const std::vector<std::string>& classes) {
  Fingerprint fingerprint("stoker.labeled_folder.v1");
  fingerprint.AddNumber(files.size());
  fingerprint.AddNumber(classes.size());
  for (const std::string& name : classes) {
    fingerprint.AddNumber(name.size());
    fingerprint.AddBytes(name);
  }
  for (uint64_t id = 0; id < files.size(); ++id) {
    const std::string_view path = files.path(id);
    fingerprint.AddNumber(path.size());
    fingerprint.AddBytes(path);
    fingerprint.AddNumber(files.sizes[id]);
    fingerprint.AddNumber(static_cast<uint64_t>(labels[id]));
  }
  return fingerprint.Finish();
}

}  // namespace

absl::StatusOr<std::unique_ptr<LabeledFolder>> LabeledFolder::Open(const v1::LabeledFolder& config,
                                                                   const std::string& name, int threads) {
  STOKER_ASSIGN_OR_RETURN(Root root, OpenRoot("labeled_folder.path", config.path(), "a folder of images"));
  STOKER_ASSIGN_OR_RETURN(std::vector<LabelRow> rows, ReadRows(config));
  STOKER_RETURN_IF_ERROR(Sort(config, rows));
  STOKER_ASSIGN_OR_RETURN(const auto files, LookAtFiles(config, root.folder, rows, std::max(threads, 1)));
  std::unique_ptr<LabeledFolder> folder(new LabeledFolder(std::move(root), name));
  for (size_t i = 0; i < rows.size(); ++i) folder->files_.Add(rows[i].file, files[i].bytes, files[i].modified);
  folder->labels_ = LabelsOf(rows, folder->classes_);
  folder->fingerprint_ = FingerprintOf(folder->files_, folder->labels_, folder->classes_);
  for (std::string& one : folder->classes_) one = PrintableName(one);
  return folder;
}

uint64_t LabeledFolder::resident_bytes() const {
  uint64_t bytes = sizeof(*this) + files_.resident_bytes() + labels_.capacity() * sizeof(labels_[0]) +
                   classes_.capacity() * sizeof(std::string);
  for (const std::string& name : classes_) bytes += name.capacity();
  return bytes;
}

std::string LabeledFolder::description() const {
  return absl::StrCat("labeled folder ", ShortPrintableName(root_.path), ", ",
                      classes_.empty() ? "labels by number" : absl::StrCat(classes_.size(), " classes"));
}

std::string LabeledFolder::SampleName(uint64_t id) const {
  STOKER_CHECK(id < size());
  return PrintableName(files_.path(id));
}

LabelRun LabeledFolder::RunAt(uint64_t id) const {
  constexpr uint64_t kFar = 64;  // It looks no farther, so that a caller who wants less is not made to wait.
  const auto begin = labels_.begin() + static_cast<int64_t>(id);
  const auto far = begin + static_cast<int64_t>(std::min(kFar, size() - id));
  const auto end = std::find_if(begin, far, [&](int64_t label) { return label != *begin; });
  return {.label = *begin, .end = static_cast<uint64_t>(end - labels_.begin())};
}

absl::Status LabeledFolder::Read(uint64_t id, SampleBytes& sample) const {
  STOKER_CHECK(id < size());
  const std::string path(files_.path(id));
  const absl::Status read =
      ReadImageAndLabel(root_.folder, path, files_.sizes[id], files_.modified[id], labels_[id], sample);
  if (read.ok()) return read;
  const std::string which = absl::StrCat(name_, ": ", ShortPrintableName(path), ": ");
  if (!absl::IsFailedPrecondition(read)) return absl::Status(read.code(), absl::StrCat(which, read.message()));
  return absl::UnavailableError(
      absl::StrCat(which, "changed since it was indexed: ", read.message(), "; restore it, or restart the server"));
}

}  // namespace stoker
