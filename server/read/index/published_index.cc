#include "server/read/index/published_index.h"

#include <optional>
#include <span>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/binary.h"
#include "server/read/index/sealed_file.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr SealedKind kDatasetIndex = {"STOKER DATASET1\n", "index of a dataset"};

void PutObject(const ObjectInfo& object, BinaryWriter& writer) {
  writer.PutBytes(object.name);
  writer.Put<uint64_t>(object.size);
  writer.PutBytes(object.version);
}

ObjectInfo GetObject(BinaryReader& reader) {
  ObjectInfo object;
  object.name = reader.GetBytes();
  object.size = reader.Get<uint64_t>();
  object.version = reader.GetBytes();
  return object;
}

// A time's seconds and nanoseconds, as LocalStore writes them; nothing for another text.
std::optional<std::pair<int64_t, int64_t>> TimeOf(std::string_view version) {
  const size_t point = version.find('.');
  std::pair<int64_t, int64_t> time;
  if (point == version.npos || !absl::SimpleAtoi(absl::string_view(version.data(), point), &time.first) ||
      !absl::SimpleAtoi(absl::string_view(version.data() + point + 1, version.size() - point - 1), &time.second))
    return std::nullopt;
  return time;
}

// Whether two times are one where a copy, or a file system, may have forgotten a fraction.
bool AreSameTime(std::string_view a, std::string_view b) {
  const auto first = TimeOf(a), second = TimeOf(b);
  if (!first.has_value() || !second.has_value() || first->first != second->first) return false;
  return first->second == second->second || first->second == 0 || second->second == 0;
}

bool IsOlder(std::string_view a, std::string_view b) {
  const auto first = TimeOf(a), second = TimeOf(b);
  return first.has_value() && second.has_value() && *first < *second;
}

std::span<uint8_t> BytesOf(std::string& text) { return {reinterpret_cast<uint8_t*>(text.data()), text.size()}; }

}  // namespace

std::string SerializePublished(const PublishedIndex& index) {
  BinaryWriter writer = BeginSealed(kDatasetIndex);
  writer.PutBytes(index.source);
  writer.PutBytes(index.store);
  writer.Put<uint64_t>(index.names.size());
  for (const std::string& name : index.names) writer.PutBytes(name);
  writer.Put<uint64_t>(index.first_reads.size());
  for (const FirstRead& read : index.first_reads) {
    PutObject(read.object, writer);
    writer.Put<uint64_t>(read.offset);
    writer.PutBytes(read.bytes);
  }
  writer.PutBytes(index.body);
  return Seal(std::move(writer));
}

absl::StatusOr<PublishedIndex> ParsePublished(std::string_view bytes) {
  STOKER_ASSIGN_OR_RETURN(const std::string_view body, Unseal(kDatasetIndex, bytes));
  BinaryReader reader(body);
  PublishedIndex index;
  index.source = reader.GetBytes();
  index.store = reader.GetBytes();
  const uint64_t names = reader.GetCount(sizeof(uint64_t));
  for (uint64_t i = 0; i < names; ++i) index.names.emplace_back(reader.GetBytes());
  const uint64_t reads = reader.GetCount(5 * sizeof(uint64_t));
  for (uint64_t i = 0; i < reads; ++i) {
    FirstRead& read = index.first_reads.emplace_back();
    read.object = GetObject(reader);
    read.offset = reader.Get<uint64_t>();
    read.bytes = reader.GetBytes();
  }
  index.body = reader.GetBytes();
  if (!reader.done()) return DamagedIndex("its parts do not fit each other");
  return index;
}

absl::StatusOr<PublishedIndex> LoadPublished(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::string bytes, ReadSealed(path, kDatasetIndex));
  return ParsePublished(bytes);
}

absl::StatusOr<PublishedIndex> ReadPublished(Store& store, const ObjectInfo& object) {
  // The header is read first, so that a huge file that is no index is not read into memory.
  std::string bytes(kSealedHeaderBytes, '\0');
  if (object.size < bytes.size() || object.size > kMostPublishedBytes)
    return DamagedIndex(absl::StrCat("it has ", object.size, " bytes"));
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&object, 0, BytesOf(bytes)}));
  STOKER_RETURN_IF_ERROR(CheckSealedHeader(kDatasetIndex, bytes, object.size));
  bytes.resize(object.size);
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&object, 0, BytesOf(bytes)}));
  return ParsePublished(bytes);
}

absl::Status CheckUnchanged(const ObjectInfo& then, const ObjectInfo& now, const IndexPlace& place) {
  const auto changed = [&](const auto&... what) {
    return NamedError(now.name, absl::FailedPreconditionError(absl::StrCat(what...)));
  };
  if (then.name != now.name) return changed("is not in it");
  if (then.size != now.size)
    return changed("had ", then.size, " bytes when it was indexed, and has ", now.size, " now");
  if (then.version.empty() || now.version.empty() || then.version == now.version) return absl::OkStatus();
  if (place.is_local && AreSameTime(then.version, now.version)) return absl::OkStatus();
  if (place.is_same_store)
    return changed("was written to since it was indexed, as its ", place.is_local ? "time" : "version", " tells");
  if (!place.is_local || IsOlder(now.version, place.version)) return absl::OkStatus();
  return changed(
      "has another time than when it was indexed, and is not older than the index: was it written to since? "
      "Copies with their times (cp -p, rsync -a) do not raise the question");
}

}  // namespace stoker
