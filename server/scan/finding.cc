#include "server/scan/finding.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"

namespace stoker {
namespace {

bool HasOther(const Finding& finding) {
  return finding.kind == FindingKind::kDuplicate ||
         (finding.kind == FindingKind::kUnreadable && finding.other > finding.id);
}

std::string TextLine(const Finding& finding, const Dataset& dataset) {
  const std::string name = dataset.SampleName(finding.id), kind = NameOf(finding.kind);
  const std::string field = finding.field.empty() ? "" : absl::StrCat(finding.field, ": ");
  if (!HasOther(finding) || finding.kind == FindingKind::kDuplicate)
    return absl::StrCat(kind, ": ", name, " (id ", finding.id, "): ", field, finding.message, "\n");
  return absl::StrCat(kind, ": ", name, " to ", dataset.SampleName(finding.other), " (ids ", finding.id, " to ",
                      finding.other, "): ", finding.message, "\n");
}

std::string JsonLine(const Finding& finding, const Dataset& dataset) {
  nlohmann::ordered_json line = {
      {"id", finding.id}, {"sample", dataset.SampleName(finding.id)}, {"kind", NameOf(finding.kind)}};
  if (!finding.field.empty()) line["field"] = finding.field;
  line["message"] = finding.message;
  if (finding.kind == FindingKind::kDuplicate) {
    line["first_id"] = finding.other;
    line["first"] = dataset.SampleName(finding.other);
  } else if (HasOther(finding)) {
    line["last_id"] = finding.other;
    line["last"] = dataset.SampleName(finding.other);
    line["samples"] = finding.other - finding.id + 1;
  }
  return line.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::string CsvLine(const Finding& finding, const Dataset& dataset) {
  std::string line = absl::StrCat(finding.id, ",", Quoted(dataset.SampleName(finding.id)), ",", NameOf(finding.kind),
                                  ",", Quoted(finding.field), ",", Quoted(finding.message), ",");
  if (HasOther(finding)) absl::StrAppend(&line, finding.other, ",", Quoted(dataset.SampleName(finding.other)));
  return line + (HasOther(finding) ? "\n" : ",\n");
}

}  // namespace

std::string NameOf(FindingKind kind) {
  static constexpr const char* kNames[kFindingKinds] = {"truncated",   "not-an-image", "damaged",   "warning",
                                                        "over-limits", "wrong-field",  "duplicate", "unreadable"};
  return kNames[static_cast<int>(kind)];
}

void SortFindings(std::vector<Finding>& findings) {
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.id, a.kind, a.field, a.message) < std::tie(b.id, b.kind, b.field, b.message);
  });
  std::vector<Finding> merged;
  for (Finding& finding : findings) {
    const bool goes_on = !merged.empty() && finding.kind == FindingKind::kUnreadable &&
                         merged.back().kind == finding.kind && merged.back().other + 1 == finding.id &&
                         merged.back().message == finding.message;
    if (goes_on) {
      merged.back().other = finding.other;
    } else {
      merged.push_back(std::move(finding));
    }
  }
  findings = std::move(merged);
}

std::string ReportOf(const std::vector<Finding>& findings, const Dataset& dataset, ReportFormat format) {
  std::string report = format == ReportFormat::kCsv ? "id,sample,kind,field,message,other_id,other\n" : "";
  for (const Finding& finding : findings)
    report += format == ReportFormat::kText   ? TextLine(finding, dataset)
              : format == ReportFormat::kJson ? JsonLine(finding, dataset)
                                              : CsvLine(finding, dataset);
  return report;
}

}  // namespace stoker
