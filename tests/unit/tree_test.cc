// The tree's rules: dependencies point one way, libraries stay behind the folders that adapt them, names are told.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = STOKER_SOURCE_DIR;

struct Include {
  std::string file;    // from the root
  std::string target;  // as written
};

bool IsSource(const fs::path& path) {
  static const std::set<std::string> endings = {".h", ".cc", ".cu", ".cuh"};
  return endings.contains(path.extension());
}

std::vector<std::string> SourcesBelow(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
    if (entry.is_regular_file() && IsSource(entry.path())) files.push_back(fs::relative(entry.path(), kRoot));
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Include> IncludesBelow(const std::string& folder) {
  static const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<Include> includes;
  for (const std::string& file : SourcesBelow(folder)) {
    std::ifstream text(kRoot / file);
    std::smatch match;
    for (std::string line; std::getline(text, line);)
      if (std::regex_search(line, match, pattern)) includes.push_back({file, match[1]});
  }
  EXPECT_GT(includes.size(), 10) << "nothing to check in " << folder;
  return includes;
}

bool StartsWith(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }

// "server/read" of "server/read/dataset.h".
std::string StageOf(const std::string& path) {
  const size_t second = path.find('/', path.find('/') + 1);
  return path.substr(0, second);
}

// Fails for each include of `folder` that `forbidden` says yes to.
template <typename Forbidden>
void ExpectNone(const std::string& folder, const std::string& rule, Forbidden forbidden) {
  for (const Include& include : IncludesBelow(folder))
    EXPECT_FALSE(forbidden(include)) << include.file << " includes " << include.target << ": " << rule;
}

TEST(TreeTest, CommonKnowsNeitherServerNorClient) {
  ExpectNone("common", "common is below both sides", [](const Include& include) {
    return StartsWith(include.target, "server/") || StartsWith(include.target, "client/");
  });
}

TEST(TreeTest, ServerAndClientDoNotKnowEachOther) {
  ExpectNone("server", "it would need the client's code",
             [](const Include& i) { return StartsWith(i.target, "client/"); });
  ExpectNone("client", "it would need the server's code",
             [](const Include& i) { return StartsWith(i.target, "server/"); });
}

TEST(TreeTest, NothingIncludesTests) {
  for (const char* folder : {"common", "server", "client"})
    ExpectNone(folder, "tests are on top", [](const Include& i) { return StartsWith(i.target, "tests/"); });
}

// Fails where a folder of `side` includes a later one of `order`. Folders below one of these count as that one.
void ExpectFoldersInOrder(const std::string& side, const std::vector<std::string>& order) {
  std::map<std::string, size_t> rank;
  for (size_t i = 0; i < order.size(); ++i) rank[side + "/" + order[i]] = i;
  ExpectNone(side, "a folder never includes a later one", [&](const Include& include) {
    if (!StartsWith(include.target, side + "/")) return false;
    const std::string from = StageOf(include.file), to = StageOf(include.target);
    if (fs::path(to).has_extension()) return false;  // check.h and status_macros.h, which include nothing of ours.
    EXPECT_TRUE(rank.contains(from)) << from << " is no folder that this test knows";
    EXPECT_TRUE(rank.contains(to)) << to << " is no folder that this test knows";
    return rank[to] > rank[from];
  });
}

TEST(TreeTest, CommonFoldersComeInOrder) {
  ExpectFoldersInOrder("common",
                       {"time", "identity", "fields", "ops", "pipeline", "wire", "config", "host", "picture"});
}

// config, observe and admin serve all stages, and are served by common alone.
TEST(TreeTest, ServerStagesComeInOrder) {
  ExpectFoldersInOrder("server", {"config", "observe", "admin", "request", "plan", "read", "decode", "augment",
                                  "plugin", "pack", "work", "prepare", "scan", "send", "main"});
}

TEST(TreeTest, ClientStagesComeInOrder) {
  ExpectFoldersInOrder("client", {"schedule", "receive", "fleet", "device", "loader", "capi", "torch", "cli"});
}

TEST(TreeTest, StagesBelowWorkDoNotSeeEachOtherBeyondNeed) {
  // Augment works on decode's images; the self-check runs both. Read, decode and pack stand alone.
  for (const char* stage : {"server/plan", "server/read", "server/decode", "server/pack", "server/request"})
    ExpectNone(stage, "only work sees all stages", [&](const Include& include) {
      return StartsWith(include.target, "server/") && StageOf(include.target) != stage;
    });
}

// Which node includes which.
using Graph = std::map<std::string, std::set<std::string>>;

// A circle in `graph`, as its nodes with the first one repeated; empty if there is none.
std::vector<std::string> CircleIn(const Graph& graph) {
  std::set<std::string> finished;
  std::vector<std::string> path;
  const std::function<bool(const std::string&)> visit = [&](const std::string& node) {
    if (finished.contains(node)) return false;
    const bool met = std::find(path.begin(), path.end(), node) != path.end();
    path.push_back(node);
    if (met) return true;
    if (const auto found = graph.find(node); found != graph.end())
      for (const std::string& next : found->second)
        if (visit(next)) return true;
    path.pop_back();
    finished.insert(node);
    return false;
  };
  for (const auto& [node, targets] : graph) {
    if (!visit(node)) continue;
    return {std::find(path.begin(), path.end(), path.back()), path.end()};
  }
  return {};
}

// Our includes, of files or, by `name`, of what files belong to.
template <typename Name>
Graph IncludeGraph(Name name) {
  Graph graph;
  for (const char* side : {"common", "server", "client"})
    for (const Include& include : IncludesBelow(side)) {
      const std::string from = name(include.file), to = name(include.target);
      if (from != to && fs::exists(kRoot / include.target)) graph[from].insert(to);
    }
  return graph;
}

std::string FolderOf(const std::string& file) { return fs::path(file).parent_path(); }

TEST(TreeTest, NoFileIncludesItselfByAWayRound) {
  EXPECT_THAT(CircleIn(IncludeGraph([](const std::string& file) { return file; })), testing::IsEmpty());
}

// A folder counts without the folders in it, so that a folder of folders and these are in one order as well: a format
// includes server/read/dataset.h, hence nothing beside dataset.h includes a format.
TEST(TreeTest, NoFolderIncludesItselfByAWayRound) { EXPECT_THAT(CircleIn(IncludeGraph(FolderOf)), testing::IsEmpty()); }

TEST(TreeTest, CirclesAreFound) {
  EXPECT_THAT(CircleIn({{"a", {"b", "c"}}, {"b", {"d"}}, {"c", {"d"}}}), testing::IsEmpty());
  EXPECT_THAT(CircleIn({{"a", {"b"}}, {"b", {"c"}}, {"c", {"d", "b"}}}), testing::ElementsAre("b", "c", "b"));
}

TEST(TreeTest, SchedulingIsPure) {
  ExpectNone("client/schedule", "clock, network and threads are behind interfaces", [](const Include& include) {
    static const std::set<std::string> impure = {"thread", "mutex", "chrono", "absl/time/clock.h", "random"};
    return impure.contains(include.target) || StartsWith(include.target, "absl/synchronization/") ||
           StartsWith(include.target, "grpc") || StartsWith(include.target, "client/receive");
  });
}

// Libraries appear in the folders that adapt them, and nowhere else.
void ExpectOnlyIn(const std::regex& library, const std::vector<std::string>& folders) {
  for (const char* side : {"common", "server", "client"})
    ExpectNone(side, "this library stays in its folders", [&](const Include& include) {
      if (!std::regex_search(include.target, library)) return false;
      return std::none_of(folders.begin(), folders.end(),
                          [&](const std::string& folder) { return StartsWith(include.file, folder + "/"); });
    });
}

TEST(TreeTest, GrpcStaysAtTheEdges) {
  ExpectOnlyIn(std::regex("^grpc|\\.grpc\\.pb\\.h$"),
               {"server/main", "server/request", "server/send", "client/receive", "common/wire"});
}

TEST(TreeTest, CudaAndTorchStayInTheirFolders) {
  ExpectOnlyIn(std::regex("^cuda|^cub/|^thrust/"), {"client/device/cuda"});
  ExpectOnlyIn(std::regex("^torch/|^ATen/|^c10/"), {"client/torch"});
}

TEST(TreeTest, ImageLibrariesStayWithTheirStages) {
  ExpectOnlyIn(std::regex("^opencv2/"), {"server/augment", "server/decode"});
  ExpectOnlyIn(std::regex("^webp/"), {"server/decode"});
  ExpectOnlyIn(std::regex("^spng\\.h"), {"server/decode", "common/picture"});
  // read paints synthetic JPEGs
  ExpectOnlyIn(std::regex("^jpeglib\\.h"), {"server/decode", "server/read", "server/prepare"});
}

TEST(TreeTest, StorageLibrariesStayWithTheirStores) {
  ExpectOnlyIn(std::regex("^curl/"), {"server/read/stores/curl"});
  // Processes of their own run these.
  ExpectOnlyIn(std::regex("^arrow/|^parquet/"), {"server/read/formats/parquet/program"});
  ExpectOnlyIn(std::regex("^sndfile\\.h|^mpg123\\.h"), {"server/decode/audio/module"});
  ExpectOnlyIn(std::regex("^hdf5|^H5"), {"server/read/formats/hdf5/program"});
  ExpectOnlyIn(std::regex("^(zlib|zstd)\\.h"), {"server/read/staged"});
}

TEST(TreeTest, FoldersAreNotCalledUtilities) {
  for (const char* side : {"common", "server", "client"})
    for (const std::string& file : SourcesBelow(side))
      EXPECT_FALSE(std::regex_search(file, std::regex("util|helper|misc|manager"))) << file;
}

TEST(TreeTest, HeadersGuardThemselvesByTheirPath) {
  for (const char* side : {"common", "server", "client", "tests"})
    for (const std::string& file : SourcesBelow(side)) {
      // Highway includes -inl.h files once a target.
      if (fs::path(file).extension() != ".h" || file.ends_with("-inl.h")) continue;
      std::string guard = "STOKER_" + std::regex_replace(file, std::regex("[/.]"), "_") + "_";
      std::transform(guard.begin(), guard.end(), guard.begin(), [](unsigned char c) { return std::toupper(c); });
      std::ifstream stream(kRoot / file);
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      EXPECT_NE(text.find("#ifndef " + guard + "\n#define " + guard + "\n"), std::string::npos) << file;
    }
}

}  // namespace
}  // namespace stoker
