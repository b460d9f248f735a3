#include "client/capi/documents.h"

#include <cstdlib>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/config/key_names.h"
#include "common/config/yaml_scalar.h"
#include "common/fields/schema.h"
#include "common/pipeline/pipeline.h"
#include "google/protobuf/descriptor.h"

namespace stoker {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using OrderedJson = nlohmann::ordered_json;

std::string Dump(const OrderedJson& json) { return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace); }

OrderedJson ScalarToJson(const Message& message, const FieldDescriptor& field, int index) {
  const std::string text = PrintScalar(message, field, index);
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_ENUM: return text;
    case FieldDescriptor::CPPTYPE_BOOL: return text == "true";
    // The number's text comes between, so that 0.1f is 0.1 and not 0.10000000149011612.
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_DOUBLE: return std::strtod(text.c_str(), nullptr);
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64: return std::strtoull(text.c_str(), nullptr, 10);
    default: return std::strtoll(text.c_str(), nullptr, 10);
  }
}

OrderedJson FieldToJson(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (!field.is_repeated())
    return is_message ? ToJson(reflection.GetMessage(message, &field)) : ScalarToJson(message, field, -1);
  OrderedJson list = OrderedJson::array();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i)
    list.push_back(is_message ? ToJson(reflection.GetRepeatedMessage(message, &field, i))
                              : ScalarToJson(message, field, i));
  return list;
}

// `sent` are the same fields as they come from the servers, which alone know their kinds. What the device has padded
// has one shape for all samples, and no kind.
OrderedJson FieldsOf(const std::vector<v1::Field>& fields, const google::protobuf::RepeatedPtrField<v1::Field>& sent) {
  OrderedJson list = OrderedJson::array();
  for (const v1::Field& field : fields) {
    OrderedJson& told =
        list.emplace_back(OrderedJson{{"name", field.name()},
                                      {"dtype", DtypeName(field.dtype())},
                                      {"shape", std::vector<int64_t>(field.shape().begin(), field.shape().end())}});
    const v1::FieldKind was = sent[static_cast<int>(list.size()) - 1].kind();
    const bool padded = IsVariable(was) && !IsVariable(field.kind());
    const v1::FieldKind kind = padded ? v1::FIELD_KIND_UNSPECIFIED : was;
    if (kind != v1::FIELD_KIND_UNSPECIFIED) told["kind"] = KindName(kind);
    if (IsVariable(kind)) told["max_bytes"] = field.max_bytes();
    if (kind == v1::FIELD_KIND_SPARSE)
      told["dense_shape"] = std::vector<int64_t>(field.dense_shape().begin(), field.dense_shape().end());
    if (field.sample_rate() != 0) told["sample_rate"] = field.sample_rate();
    if (kind == v1::FIELD_KIND_BOXES) told["box_format"] = BoxFormatName(field.box_format());
  }
  return list;
}

OrderedJson PartsOf(const v1::DescribeResponse& description) {
  OrderedJson list = OrderedJson::array();
  for (const v1::DatasetPart& part : description.parts())
    list.push_back({{"name", part.name()}, {"end", part.end()}, {"weight", part.weight()}});
  return list;
}

std::string NameOf(const DeviceId& device) {
  return device.kind == DeviceId::Kind::kCpu ? "cpu" : absl::StrCat("cuda:", device.ordinal);
}

double Seconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

}  // namespace

OrderedJson ToJson(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  OrderedJson json = OrderedJson::object();
  for (const FieldDescriptor* field : fields) json[KeyOf(*field)] = FieldToJson(message, *field);
  return json;
}

std::string ListDocument(const v1::ListDatasetsResponse& list) {
  OrderedJson datasets = OrderedJson::array(), pipelines = OrderedJson::array();
  for (const v1::DatasetInfo& info : list.datasets())
    datasets.push_back({{"name", info.name()},
                        {"samples", info.samples()},
                        {"fingerprint", absl::BytesToHexString(info.fingerprint())},
                        {"description", info.description()}});
  for (const v1::NamedPipeline& named : list.pipelines())
    pipelines.push_back({{"name", named.name()}, {"pipeline", ToJson(named.pipeline())}});
  return Dump({{"datasets", datasets}, {"pipelines", pipelines}});
}

std::string DescribeDocument(const Loader& loader) {
  const v1::DescribeResponse& description = loader.description();
  const LoaderOptions& options = loader.options();
  return Dump({{"dataset", options.dataset},
               {"samples", description.identity().samples()},
               {"fingerprint", absl::BytesToHexString(description.identity().fingerprint())},
               {"dataset_samples", description.dataset_samples()},
               {"batch_size", options.batch_size},
               {"rank", options.rank},
               {"world_size", options.world_size},
               {"batches_per_epoch", loader.batches_per_epoch()},
               {"sample_bytes", description.sample_bytes()},
               {"seed", options.seed},
               {"device", NameOf(options.device->id())},
               {"pipeline", ToJson(WithDefaults(description.pipeline()))},
               {"fields", FieldsOf(loader.fields(), description.fields())},
               {"parts", PartsOf(description)}});
}

std::string StatsDocument(const LoaderStats& stats) {
  OrderedJson servers = OrderedJson::array();
  for (const LoaderStats::Server& server : stats.servers)
    servers.push_back({{"address", server.address},
                       {"connected", server.connected},
                       {"spans", server.spans},
                       {"problem", server.problem}});
  return Dump({{"batches", stats.batches},
               {"samples", stats.samples},
               {"substituted", stats.substituted},
               {"spans", stats.spans},
               {"bytes", stats.bytes},
               {"retried_spans", stats.retried_spans},
               {"hedged_spans", stats.hedged_spans},
               {"cached_spans", stats.cached_spans},
               {"verified_spans", stats.verified_spans},
               {"unverified_spans", stats.unverified_spans},
               {"differing_spans", stats.differing_spans},
               {"waited_seconds", absl::ToDoubleSeconds(stats.waited)},
               {"received_seconds", absl::ToDoubleSeconds(stats.received)},
               {"transformed_seconds", absl::ToDoubleSeconds(stats.transformed)},
               {"server_seconds",
                {{"fetch", Seconds(stats.server.fetch())},
                 {"wait", Seconds(stats.server.wait())},
                 {"read", Seconds(stats.server.read())},
                 {"decode", Seconds(stats.server.decode())},
                 {"augment", Seconds(stats.server.augment())},
                 {"own_ops", Seconds(stats.server.own_ops())},
                 {"pack", Seconds(stats.server.pack())}}},
               {"servers", servers},
               {"warnings", stats.warnings}});
}

std::string NamesDocument(const std::vector<std::string>& names) { return Dump(OrderedJson(names)); }

std::string LabelsDocument(const std::vector<v1::LabelRun>& labels) {
  OrderedJson runs = OrderedJson::array();
  for (const v1::LabelRun& run : labels) runs.push_back({run.label(), run.count()});
  return Dump(runs);
}

std::string SubstitutedDocument(const Batch& batch) {
  OrderedJson list = OrderedJson::array();
  for (const Substituted& substituted : batch.substituted())
    list.push_back({{"position", substituted.position},
                    {"bad_sample_id", substituted.bad_sample_id},
                    {"bad_sample_name", substituted.bad_sample_name},
                    {"reason", substituted.reason}});
  return Dump(list);
}

}  // namespace stoker
