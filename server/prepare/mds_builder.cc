#include <utility>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "server/prepare/shard_builder.h"
#include "server/read/binary.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

class MdsBuilder final : public ShardBuilder {
 public:
  MdsBuilder(std::vector<ShardColumn> columns, uint64_t shard_bytes)
      : columns_(std::move(columns)), list_entry_(EntryOf(columns_, shard_bytes)), header_(list_entry_.dump()) {}

  std::string NameOf(uint64_t number) const override { return absl::StrFormat("shard.%05d.mds", number); }

  bool IsName(std::string_view name) const override {
    return (name.size() >= 15 && name.starts_with("shard.") && name.ends_with(".mds") &&
            name.find_first_not_of("0123456789", 6) == name.size() - 4) ||
           name == ListName();
  }

  uint64_t BytesWith(const ShardSample& sample) const override {
    return HeaderBytes(ends_.size() + 1) + samples_.bytes.size() + BytesOf(sample);
  }

  void Add(const ShardSample& sample) override {
    for (size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].bytes == 0) samples_.Put(static_cast<uint32_t>(sample.values[i].size()));
    for (const std::span<const uint8_t> value : sample.values)
      samples_.bytes.append(reinterpret_cast<const char*>(value.data()), value.size());
    ends_.push_back(samples_.bytes.size());
  }

  uint64_t samples() const override { return ends_.size(); }

  std::string Finish() override {
    BinaryWriter shard;
    const uint64_t begin = HeaderBytes(ends_.size());
    shard.bytes.reserve(begin + samples_.bytes.size());
    shard.Put(static_cast<uint32_t>(ends_.size()));
    shard.Put(static_cast<uint32_t>(begin));
    for (const uint64_t end : ends_) shard.Put(static_cast<uint32_t>(begin + end));
    shard.bytes += header_;
    shard.bytes += samples_.bytes;
    samples_.bytes.clear();
    ends_.clear();
    return std::move(shard.bytes);
  }

  std::string ListName() const override { return "index.json"; }

  std::string ListOf(const std::vector<WrittenShard>& shards) const override {
    Json list = Json::array();
    for (const WrittenShard& shard : shards) {
      Json entry = list_entry_;
      entry["raw_data"] = {{"basename", shard.name}, {"bytes", shard.bytes}, {"hashes", Json::object()}};
      entry["samples"] = shard.samples;
      entry["zip_data"] = nullptr;
      list.push_back(std::move(entry));
    }
    return Json{{"shards", std::move(list)}, {"version", 2}}.dump();
  }

 private:
  static Json EntryOf(const std::vector<ShardColumn>& columns, uint64_t shard_bytes) {
    Json encodings = Json::array(), names = Json::array(), sizes = Json::array();
    for (const ShardColumn& column : columns) {
      encodings.push_back(column.encoding);
      names.push_back(column.field);
      sizes.push_back(column.bytes == 0 ? Json() : Json(column.bytes));
    }
    return {{"column_encodings", encodings}, {"column_names", names}, {"column_sizes", sizes},
            {"compression", nullptr},        {"format", "mds"},       {"hashes", Json::array()},
            {"size_limit", shard_bytes},     {"version", 2}};
  }

  uint64_t BytesOf(const ShardSample& sample) const {
    uint64_t bytes = 0;
    for (size_t i = 0; i < columns_.size(); ++i)
      bytes += sample.values[i].size() + (columns_[i].bytes == 0 ? sizeof(uint32_t) : 0);
    return bytes;
  }

  uint64_t HeaderBytes(uint64_t samples) const { return (samples + 2) * sizeof(uint32_t) + header_.size(); }

  const std::vector<ShardColumn> columns_;
  const Json list_entry_;  // what the shards' list says of each shard alike
  const std::string header_;
  BinaryWriter samples_;
  std::vector<uint64_t> ends_;  // of each sample, from the first one's begin
};

}  // namespace

std::unique_ptr<ShardBuilder> CreateMdsBuilder(std::vector<ShardColumn> columns, uint64_t shard_bytes) {
  return std::make_unique<MdsBuilder>(std::move(columns), shard_bytes);
}

}  // namespace stoker
