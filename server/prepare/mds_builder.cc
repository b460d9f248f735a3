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
  MdsBuilder(std::string image_encoding, uint64_t shard_bytes)
      : columns_({{"column_encodings", {image_encoding, "int"}},
                  {"column_names", {"image", "label"}},
                  {"column_sizes", {nullptr, 8}},
                  {"compression", nullptr},
                  {"format", "mds"},
                  {"hashes", Json::array()},
                  {"size_limit", shard_bytes},
                  {"version", 2}}),
        header_(columns_.dump()) {}

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
    samples_.Put(static_cast<uint32_t>(sample.image.size()));
    samples_.bytes.append(reinterpret_cast<const char*>(sample.image.data()), sample.image.size());
    samples_.Put(sample.label);
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
      Json entry = columns_;
      entry["raw_data"] = {{"basename", shard.name}, {"bytes", shard.bytes}, {"hashes", Json::object()}};
      entry["samples"] = shard.samples;
      entry["zip_data"] = nullptr;
      list.push_back(std::move(entry));
    }
    return Json{{"shards", std::move(list)}, {"version", 2}}.dump();
  }

 private:
  static uint64_t BytesOf(const ShardSample& sample) {
    return sizeof(uint32_t) + sample.image.size() + sizeof(sample.label);
  }

  uint64_t HeaderBytes(uint64_t samples) const { return (samples + 2) * sizeof(uint32_t) + header_.size(); }

  const Json columns_;
  const std::string header_;
  BinaryWriter samples_;
  std::vector<uint64_t> ends_;  // of each sample, from the first one's begin
};

}  // namespace

std::unique_ptr<ShardBuilder> CreateMdsBuilder(std::string image_encoding, uint64_t shard_bytes) {
  return std::make_unique<MdsBuilder>(std::move(image_encoding), shard_bytes);
}

}  // namespace stoker
