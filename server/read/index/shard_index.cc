#include "server/read/index/shard_index.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/identity/fingerprint.h"

namespace stoker {

void ShardIndex::Rows::Add(std::string_view name, const StoredRange& range,
                           const std::vector<StoredPart>& sample_parts) {
  STOKER_CHECK(sample_parts.size() == static_cast<size_t>(parts));
  ranges.push_back(range);
  stored_parts.insert(stored_parts.end(), sample_parts.begin(), sample_parts.end());
  if (name.empty()) return;
  names.append(name);
  name_ends.push_back(names.size());
}

void ShardIndex::Append(ObjectInfo object, const Rows& rows) {
  STOKER_CHECK(rows.parts == parts && (shards.empty() || shards.back().object.name < object.name));
  for (const StoredRange& range : rows.ranges) {
    offsets.push_back(range.offset);
    sizes.push_back(range.size);
  }
  stored_parts.insert(stored_parts.end(), rows.stored_parts.begin(), rows.stored_parts.end());
  for (const uint64_t end : rows.name_ends) name_ends.push_back(names.size() + end);
  names.append(rows.names);
  shards.push_back({std::move(object), size()});
}

size_t ShardIndex::ShardOf(uint64_t id) const {
  STOKER_CHECK(id < size());
  const auto found =
      std::upper_bound(shards.begin(), shards.end(), id, [](uint64_t i, const Shard& shard) { return i < shard.end; });
  return found - shards.begin();
}

std::string ShardIndex::NameOf(uint64_t id) const {
  if (!name_ends.empty()) {
    const uint64_t begin = id == 0 ? 0 : name_ends[id - 1];
    return names.substr(begin, name_ends[id] - begin);
  }
  const size_t shard = ShardOf(id);
  return absl::StrCat(shards[shard].object.name, ":", id - (shard == 0 ? 0 : shards[shard - 1].end));
}

std::string ShardIndex::Fingerprint(std::string_view format) const {
  stoker::Fingerprint fingerprint("stoker.shards.v1");
  const auto add_text = [&](std::string_view text) {
    fingerprint.AddNumber(text.size());
    fingerprint.AddBytes(text);
  };
  add_text(format);
  fingerprint.AddNumber(shards.size());
  fingerprint.AddNumber(parts);
  for (const Shard& shard : shards) {
    add_text(shard.object.name);
    fingerprint.AddNumber(shard.object.size);
    fingerprint.AddNumber(shard.end);
  }
  for (uint64_t id = 0; id < size(); ++id) {
    const uint64_t begin = id == 0 || name_ends.empty() ? 0 : name_ends[id - 1];
    add_text(name_ends.empty() ? std::string_view() : std::string_view(names).substr(begin, name_ends[id] - begin));
    fingerprint.AddNumber(offsets[id]);
    fingerprint.AddNumber(sizes[id]);
    for (int part = 0; part < parts; ++part) {
      fingerprint.AddNumber(PartOf(id, part).offset);
      fingerprint.AddNumber(PartOf(id, part).size);
    }
  }
  return fingerprint.Finish();
}

bool ShardIndex::IsConsistent() const {
  if (parts < 0 || sizes.size() != size() || stored_parts.size() != size() * parts) return false;
  if (name_ends.empty() ? !names.empty() : name_ends.size() != size() || name_ends.back() != names.size()) return false;
  if (!std::is_sorted(name_ends.begin(), name_ends.end())) return false;
  if (shards.empty() ? size() != 0 : shards.back().end != size()) return false;
  for (size_t i = 1; i < shards.size(); ++i)
    if (shards[i].end < shards[i - 1].end || shards[i].object.name <= shards[i - 1].object.name) return false;
  uint64_t id = 0;
  for (const Shard& shard : shards)
    for (; id < shard.end; ++id)
      if (offsets[id] > shard.object.size || sizes[id] > shard.object.size - offsets[id]) return false;
  for (size_t i = 0; i < stored_parts.size(); ++i) {
    const StoredPart& part = stored_parts[i];
    const uint32_t size = sizes[i / parts];
    if (part.offset > size || part.size > size - part.offset) return false;
  }
  return true;
}

uint64_t ShardIndex::resident_bytes() const {
  uint64_t bytes = sizeof(*this) + shards.capacity() * sizeof(Shard) + offsets.capacity() * sizeof(uint64_t) +
                   sizes.capacity() * sizeof(uint32_t) + stored_parts.capacity() * sizeof(StoredPart) +
                   names.capacity() + name_ends.capacity() * sizeof(uint64_t);
  for (const Shard& shard : shards) bytes += shard.object.name.capacity() + shard.object.version.capacity();
  return bytes;
}

}  // namespace stoker
