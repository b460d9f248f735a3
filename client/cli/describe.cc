#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/commands.h"
#include "client/cli/flags.h"
#include "client/cli/printable.h"
#include "common/config/byte_size.h"
#include "common/config/yaml_proto.h"
#include "common/fields/schema.h"
#include "common/fields/span_layout.h"
#include "common/pipeline/device_pipeline.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr char kDescribeExamples[] = R"(Examples:
  stoker describe --servers cpu1:7077 --dataset imagenet --pipeline train.yaml
      Check a pipeline against a dataset, and see what a training loop would get.
  stoker describe --servers cpu1:7077
      The same for the only dataset and the default pipeline, which it prints as YAML to begin from.
  stoker describe --servers cpu1:7077 --pipeline train.yaml --explain
      See in how many passes the server's ops are done, what is merged and what is left out.)";

std::string ShapeOf(const v1::Field& field) {
  if (field.kind() == v1::FIELD_KIND_RAGGED_IMAGE) return "ragged_image, height×width×3";
  if (field.kind() == v1::FIELD_KIND_SPARSE)
    return absl::StrCat("sparse, indices of ", absl::StrJoin(field.dense_shape(), "×"));
  const std::string rate = field.sample_rate() == 0 ? "" : absl::StrCat(", ", field.sample_rate(), " Hz");
  if (IsVariable(field.kind()))
    return absl::StrCat(KindName(field.kind()), field.kind() == v1::FIELD_KIND_BOXES ? " " : "",
                        field.kind() == v1::FIELD_KIND_BOXES ? BoxFormatName(field.box_format()) : "", ", rows",
                        field.shape().empty() ? "" : "×", absl::StrJoin(field.shape(), "×"), rate);
  return field.shape().empty() ? "scalar" : absl::StrCat(absl::StrJoin(field.shape(), "×"), rate);
}

// Prints one line for each field. The column that is not ASCII stands last, since padding counts bytes.
absl::StatusOr<std::string> Fields(const std::string& title, const std::vector<v1::Field>& fields) {
  std::string text, label = title;
  for (const v1::Field& field : fields) {
    STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, ByteSize(field));
    absl::StrAppendFormat(&text, "%-13s%-12s %-8s %s, %s%d bytes\n", label, Printable(field.name()),
                          DtypeName(field.dtype()), ShapeOf(field), IsVariable(field.kind()) ? "up to " : "",
                          IsVariable(field.kind()) ? field.max_bytes() : bytes);
    label.clear();
  }
  return text;
}

// Prints the fields as the device hands them out; nothing if it leaves them as they are.
absl::StatusOr<std::string> DeviceFields(const v1::DescribeResponse& response, const std::vector<v1::Field>& fields) {
  STOKER_ASSIGN_OR_RETURN(const DevicePipeline device, DevicePipeline::Create(response.pipeline(), fields));
  return device.identity() ? std::string() : Fields("on device", device.fields());
}

// Says how the images' pixels lie, in each field that has some.
std::string Layout(const std::vector<v1::Field>& fields) {
  std::vector<absl::string_view> images;
  for (const v1::Field& field : fields)
    if ((field.shape_size() >= 3 && field.kind() == v1::FIELD_KIND_UNSPECIFIED) ||
        field.kind() == v1::FIELD_KIND_RAGGED_IMAGE)
      images.push_back(field.name());
  if (images.empty()) return "";
  return absl::StrFormat("%-13s%s: height × width × channels as sent; torch gets channels × height × width\n", "layout",
                         Printable(absl::StrJoin(images, ", ")));
}

// Prints a line for each dataset that this one is mixed of.
std::string Parts(const v1::DescribeResponse& response) {
  std::string text, label = "mix";
  uint64_t begin = 0;
  for (const v1::DatasetPart& part : response.parts()) {
    absl::StrAppendFormat(&text, "%-13s%s: %d samples", label, Printable(part.name()), part.end() - begin);
    if (part.weight() > 0) absl::StrAppend(&text, ", weight ", part.weight());
    absl::StrAppend(&text, "\n");
    begin = part.end();
    label.clear();
  }
  return text;
}

std::string Indented(const std::string& text) {
  std::string indented;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty()))
    absl::StrAppend(&indented, "  ", line, "\n");
  return indented;
}

absl::StatusOr<std::string> Describe(const std::string& dataset, const v1::DescribeResponse& response) {
  const v1::Identity& identity = response.identity();
  const std::vector<v1::Field> fields(response.fields().begin(), response.fields().end());
  STOKER_ASSIGN_OR_RETURN(const std::string as_sent, Fields("as sent", fields));
  STOKER_ASSIGN_OR_RETURN(const std::string on_device, DeviceFields(response, fields));
  std::string text = absl::StrFormat("%-13s%s\n%-13s%d\n%-13s%s\n", "dataset", Printable(dataset), "samples",
                                     identity.samples(), "fingerprint", absl::BytesToHexString(identity.fingerprint()));
  if (response.dataset_samples() > identity.samples())
    absl::StrAppendFormat(&text, "%-13s%d samples of the dataset's %d\n", "part", identity.samples(),
                          response.dataset_samples());
  absl::StrAppend(&text, Parts(response));
  absl::StrAppendFormat(&text, "%-13sversion %d, check %016x\n", "pixels", identity.pixel_version(),
                        identity.pixel_check());
  absl::StrAppend(&text, as_sent, on_device);
  const SpanLayout layout(fields);
  const char* const most = layout.variable().empty() ? "" : "at most ";
  absl::StrAppendFormat(&text, "%-13s%s%d bytes as sent\n", "sample", most, response.sample_bytes());
  absl::StrAppendFormat(&text, "%-13s%d samples, %s%s\n", "span", response.span_samples(),
                        layout.variable().empty() ? "" : "about ",
                        FormatByteSize(response.span_samples() * layout.typical_bytes()));
  absl::StrAppendFormat(&text, "%-13s%s, %d spans at once\n", "server", Printable(response.build()),
                        response.parallelism());
  absl::StrAppend(&text, Layout(fields), "pipeline\n", Indented(ToYaml(response.pipeline())));
  if (!response.plan().empty()) absl::StrAppend(&text, "plan\n");
  for (const std::string& line : response.plan()) absl::StrAppend(&text, "  ", Printable(line), "\n");
  return text;
}

absl::StatusOr<int> RunDescribe(const SourceFlags& flags, bool explain) {
  STOKER_ASSIGN_OR_RETURN(const Source source, OpenSource(flags));
  v1::DescribeRequest request;
  request.set_dataset(source.dataset);
  if (source.pipeline.has_value()) *request.mutable_pipeline() = *source.pipeline;
  if (!source.pipeline_name.empty()) request.set_pipeline_name(source.pipeline_name);
  if (source.subset.ByteSizeLong() > 0) *request.mutable_subset() = source.subset;
  request.set_explain(explain);
  STOKER_ASSIGN_OR_RETURN(const v1::DescribeResponse response, source.client->Describe(request));
  STOKER_ASSIGN_OR_RETURN(const std::string text, Describe(source.dataset, response));
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

void AddDescribe(CLI::App& app, Command& chosen) {
  CLI::App* command = app.add_subcommand("describe", "Check a pipeline against a dataset, and say what comes out");
  const auto flags = std::make_shared<SourceFlags>();
  AddSourceFlags(*command, *flags);
  command->footer(kDescribeExamples);
  const auto explain = std::make_shared<bool>(false);
  command->add_flag("--explain", *explain, "Say how the server makes a sample's images, step by step");
  command->callback([flags, explain, &chosen] { chosen = [flags, explain] { return RunDescribe(*flags, *explain); }; });
}

}  // namespace stoker
