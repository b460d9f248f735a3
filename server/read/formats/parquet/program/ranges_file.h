#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_PROGRAM_RANGES_FILE_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_PROGRAM_RANGES_FILE_H_

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "server/read/formats/parquet/messages.h"

namespace stoker {

// A file of which the ranges of a request alone are there. Others are an error. The request and its bytes must outlive
// it and the buffers that it gives.
class RangesFile final : public arrow::io::RandomAccessFile {
 public:
  RangesFile(const DecodeRequest& request, std::string_view bytes) : request_(request), bytes_(bytes) {}

  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t size) override {
    ARROW_ASSIGN_OR_RAISE(const std::string_view found, Find(position, size));
    return std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(found.data()),
                                           static_cast<int64_t>(found.size()));
  }

  arrow::Result<int64_t> ReadAt(int64_t position, int64_t size, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const std::string_view found, Find(position, size));
    if (!found.empty()) std::memcpy(out, found.data(), found.size());
    return static_cast<int64_t>(found.size());
  }

  arrow::Result<int64_t> Read(int64_t size, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(position_, size, out));
    position_ += read;
    return read;
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override {
    ARROW_ASSIGN_OR_RAISE(auto read, ReadAt(position_, size));
    position_ += read->size();
    return read;
  }

  arrow::Result<int64_t> GetSize() override { return static_cast<int64_t>(request_.file_size); }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Seek(int64_t position) override {
    position_ = position;
    return arrow::Status::OK();
  }
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }

 private:
  arrow::Result<std::string_view> Find(int64_t position, int64_t size) const {
    std::string_view rest = bytes_;
    for (const auto& [offset, range_size] : request_.ranges) {
      const std::string_view range = rest.substr(0, range_size);
      rest.remove_prefix(range.size());
      if (position < 0 || size < 0 || static_cast<uint64_t>(position) < offset) continue;
      const uint64_t skipped = static_cast<uint64_t>(position) - offset;
      if (skipped > range.size() || static_cast<uint64_t>(size) > range.size() - skipped) continue;
      return range.substr(skipped, static_cast<uint64_t>(size));
    }
    return arrow::Status::IOError("a column lies where its footer does not say");
  }

  const DecodeRequest& request_;
  const std::string_view bytes_;
  int64_t position_ = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_PARQUET_PROGRAM_RANGES_FILE_H_
