#ifndef STOKER_TESTS_BENCH_SOURCE_SHARDS_H_
#define STOKER_TESTS_BENCH_SOURCE_SHARDS_H_

#include <string>
#include <vector>

#include "stoker/v1/config.pb.h"

namespace stoker {

// The formats that photographs are read from.
inline constexpr char kFolder[] = "class folder", kTar[] = "tar", kTfRecord[] = "tfrecord", kMds[] = "mds",
                      kLmdb[] = "lmdb", kParquet[] = "parquet", kHdf5[] = "hdf5";

// Those that WriteShards writes, each by its own writer from PyPI.
const std::vector<std::string>& WrittenFormats();

// Writes the photographs of `folder` in `format`, below this program's build folder, unless that was done. Returns
// where, or nothing where the writer cannot be had.
std::string WriteShards(const std::string& format, const std::string& folder);

// The names of a folder's files, in bytewise order.
std::vector<std::string> FilesOf(const std::string& folder);

// Returns the configuration of the shards at `root`, a folder or URL, that has `files`.
v1::DatasetConfig ConfigOf(const std::string& format, const std::string& root, const std::vector<std::string>& files);

}  // namespace stoker

#endif  // STOKER_TESTS_BENCH_SOURCE_SHARDS_H_
