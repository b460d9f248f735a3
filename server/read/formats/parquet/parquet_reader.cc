#include "server/read/formats/parquet/parquet_reader.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr char kMagic[] = "PAR1";
constexpr uint64_t kTailBytes = 8;                         // after a footer: its size, u32, and kMagic
constexpr uint64_t kFirstRead = uint64_t{64} << 10;        // holds most files' footers
constexpr uint64_t kMostFooterBytes = uint64_t{64} << 20;  // of one file
constexpr uint64_t kMostFooterAnswer = uint64_t{512} << 20;
constexpr uint64_t kGapBytes = uint64_t{64} << 10;   // that are read along, rather than asking twice
constexpr uint64_t kPieceBytes = uint64_t{8} << 20;  // of one request to a store

ChildPool::Options ChildOptions(std::string program, int children) {
  // Arrow would otherwise take memory by allocators of its own, which hold on to it.
  return {{.program = std::move(program),
           .environment = {"ARROW_DEFAULT_MEMORY_POOL=system", "LC_ALL=C"},
           .address_space_bytes = 4 * kMostRowGroupBytes,
           .cpu_time = absl::Seconds(120),
           .deadline = absl::Seconds(300)},
          children};
}

std::span<const uint8_t> BytesOf(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string_view TextOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

absl::Status Wrong(const ObjectInfo& shard, const std::string& what) {
  return NamedError(shard.name, absl::DataLossError(what));
}

// Returns the bytes of the shard's footer.
absl::StatusOr<std::vector<uint8_t>> FooterBytes(Store& store, const ObjectInfo& shard) {
  if (shard.size < kTailBytes + 4)
    return Wrong(shard, absl::StrCat("is no Parquet file: it has ", shard.size, " bytes"));
  std::vector<uint8_t> end(std::min(shard.size, kFirstRead));
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&shard, shard.size - end.size(), end}));
  const std::span<const uint8_t> tail = std::span(end).last(kTailBytes);
  if (TextOf(tail.last(4)) == "PARE") return Wrong(shard, "is encrypted");
  if (TextOf(tail.last(4)) != kMagic) return Wrong(shard, "is no Parquet file: it does not end with PAR1");
  uint32_t bytes = 0;
  std::memcpy(&bytes, tail.data(), sizeof bytes);
  if (bytes > shard.size - kTailBytes - 4 || bytes > kMostFooterBytes)
    return Wrong(shard, absl::StrCat("has a footer of ", bytes, " bytes, which cannot be"));
  if (bytes > end.size() - kTailBytes) {
    std::vector<uint8_t> footer(bytes);
    STOKER_RETURN_IF_ERROR(ReadNow(store, {&shard, shard.size - kTailBytes - bytes, footer}));
    return footer;
  }
  return std::vector<uint8_t>(end.end() - kTailBytes - bytes, end.end() - kTailBytes);
}

// Returns the ranges that have the chunks, in order, without one for each gap.
std::vector<DecodeRequest::Range> RangesOf(std::vector<ParquetChunk> chunks) {
  std::sort(chunks.begin(), chunks.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  std::vector<DecodeRequest::Range> ranges;
  for (const ParquetChunk& chunk : chunks) {
    const uint64_t end = ranges.empty() ? 0 : ranges.back().offset + ranges.back().size;
    if (ranges.empty() || chunk.offset > end + kGapBytes) {
      ranges.push_back({chunk.offset, chunk.size});
    } else {
      ranges.back().size = std::max(end, chunk.offset + chunk.size) - ranges.back().offset;
    }
  }
  return ranges;
}

// Fills `into` with the ranges' bytes one after another, by many requests at once.
absl::Status ReadRanges(Store& store, const ObjectInfo& shard, const std::vector<DecodeRequest::Range>& ranges,
                        std::span<uint8_t> into) {
  std::vector<Store::Range> pieces;
  for (const auto& [offset, size] : ranges) {
    for (uint64_t at = 0; at < size; at += kPieceBytes)
      pieces.push_back({&shard, offset + at, into.subspan(at, std::min(kPieceBytes, size - at))});
    into = into.subspan(size);
  }
  absl::Mutex mutex;
  absl::Status status;
  absl::BlockingCounter left(static_cast<int>(pieces.size()));
  for (const Store::Range& piece : pieces)
    store.Read(piece, [&](const absl::Status& read) {
      if (!read.ok()) {
        absl::MutexLock lock(&mutex);
        status.Update(read);
      }
      left.DecrementCount();
    });
  left.Wait();
  return status;
}

}  // namespace

absl::Status CheckPlaces(const ParquetFooter& footer, const ObjectInfo& shard) {
  for (size_t i = 0; i < footer.row_groups.size(); ++i)
    for (const ParquetChunk& chunk : footer.row_groups[i].chunks)
      if (chunk.offset > shard.size || chunk.size > shard.size - chunk.offset)
        return Wrong(shard, absl::StrCat("a column of its row group ", i, " has ", chunk.size, " bytes at ",
                                         chunk.offset, ", where the file has ", shard.size));
  return absl::OkStatus();
}

ParquetReader::ParquetReader(std::string program, int children)
    : children_(ChildOptions(std::move(program), children)) {}

absl::StatusOr<ParquetFooter> ParquetReader::ReadFooter(Store& store, const ObjectInfo& shard) {
  STOKER_ASSIGN_OR_RETURN(const auto bytes, FooterBytes(store, shard));
  std::string head = "f";
  const uint64_t size = bytes.size();
  head.append(reinterpret_cast<const char*>(&size), sizeof size);
  const auto answer = children_.Ask({BytesOf(head), bytes}, kMostFooterAnswer);
  if (absl::IsNotFound(answer.status()))
    return absl::FailedPreconditionError(absl::StrCat(
        "this build cannot read Parquet, since it was made without Arrow: `./dev setup --parquet` gets it, "
        "and the next build has it (",
        answer.status().message(), ")"));
  if (!answer.ok()) return NamedError(shard.name, answer.status());
  ParquetFooter footer;
  if (!ParseFooter(TextOf(answer->bytes()), footer)) return Wrong(shard, "what its footer tells of cannot be");
  STOKER_RETURN_IF_ERROR(CheckPlaces(footer, shard));
  return footer;
}

absl::StatusOr<std::unique_ptr<const RowGroup>> ParquetReader::Decode(Store& store, const StoredRowGroup& group,
                                                                      uint64_t number) {
  DecodeRequest request{.file_size = group.shard->size,
                        .rows = group.rows,
                        .most_bytes = kMostRowGroupBytes,
                        .footer = group.footer,
                        .columns = group.columns,
                        .ranges = RangesOf(group.chunks)};
  uint64_t size = 0;
  for (const auto& range : request.ranges) size += range.size;
  const auto bytes = std::make_unique_for_overwrite<uint8_t[]>(size);
  STOKER_RETURN_IF_ERROR(ReadRanges(store, *group.shard, request.ranges, {bytes.get(), size}));
  const std::string head = SerializeRequest(request);
  auto answer = children_.Ask({BytesOf(head), {bytes.get(), size}}, 2 * kMostRowGroupBytes);
  const auto named = [&](const absl::Status& status) {
    return NamedError(absl::StrCat(group.shard->name, ": row group ", number), status);
  };
  if (!answer.ok()) return named(answer.status());
  DecodedColumns columns;
  if (!ParseColumns(TextOf(answer->bytes()), columns) || columns.rows != group.rows ||
      columns.columns.size() != group.columns.size())
    return named(absl::DataLossError("what was decoded cannot be"));
  return std::make_unique<const RowGroup>(*std::move(answer), std::move(columns));
}

}  // namespace stoker
