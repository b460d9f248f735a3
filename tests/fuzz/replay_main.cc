// Drives a fuzz target where libFuzzer is absent: runs every file given, or lying in a folder given, then --runs N
// inputs made from them by a few random edits. Run k of seed S is the same everywhere. The input that ends the
// process is left in the file crash-input.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

namespace fs = std::filesystem;

using Input = std::vector<uint8_t>;

constexpr size_t kMaxInputBytes = 1 << 16;

const Input* g_input = nullptr;  // What is running now: the handlers below have no other way to know.

void SaveInput() {
  const int file = open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0 && g_input != nullptr) (void)!write(file, g_input->data(), g_input->size());
}

void OnSignal(int signal) {
  SaveInput();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void SaveInputOnDeath() {
  std::signal(SIGABRT, OnSignal);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(SaveInput);
  } else {
    std::signal(SIGSEGV, OnSignal);
  }
}

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  size_t Below(size_t bound) { return Next() % bound; }

 private:
  uint64_t state_;
};

// A run of `from`, of up to 64 bytes.
Input Piece(const Input& from, Random& random) {
  const size_t begin = random.Below(from.size() + 1);
  return {from.begin() + begin, from.begin() + begin + random.Below(std::min<size_t>(from.size() - begin, 64) + 1)};
}

void Insert(const Input& piece, Input& input, Random& random) {
  input.insert(input.begin() + random.Below(input.size() + 1), piece.begin(), piece.end());
}

void Erase(Input& input, Random& random) {
  const size_t begin = random.Below(input.size());
  input.erase(input.begin() + begin,
              input.begin() + begin + 1 + random.Below(std::min<size_t>(input.size() - begin, 64)));
}

void Edit(const std::vector<Input>& corpus, Input& input, Random& random) {
  static constexpr uint8_t kEdges[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
  if (input.empty()) return input.push_back(random.Next());
  switch (random.Below(7)) {
    case 0: input[random.Below(input.size())] ^= 1 << random.Below(8); break;
    case 1: input[random.Below(input.size())] = random.Next(); break;
    case 2: input[random.Below(input.size())] = kEdges[random.Below(std::size(kEdges))]; break;
    case 3: Erase(input, random); break;
    case 4: Insert(Piece(input, random), input, random); break;
    case 5: Insert(Piece(corpus[random.Below(corpus.size())], random), input, random); break;
    case 6: Insert({static_cast<uint8_t>(random.Next())}, input, random); break;
  }
}

Input Mutant(const std::vector<Input>& corpus, Random random) {
  Input input = corpus[random.Below(corpus.size())];
  for (size_t edits = 1 + random.Below(6); edits > 0; --edits) Edit(corpus, input, random);
  if (input.size() > kMaxInputBytes) input.resize(kMaxInputBytes);
  return input;
}

void Run(const Input& input) {
  // A copy of exactly its size: a sanitizer sees any read beyond it.
  const Input exact(input);
  g_input = &exact;
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  g_input = nullptr;
}

Input ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The files at `path`, in order of their names.
std::vector<fs::path> FilesAt(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t runs = 0, seed = 1;
  std::vector<Input> corpus;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--runs" && i + 1 < argc) {
      runs = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--seed" && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      for (const fs::path& file : FilesAt(argument)) corpus.push_back(ReadFile(file));
    }
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "usage: %s [--runs N] [--seed S] FOLDER_OR_FILE...\n", argv[0]);
    return 2;
  }
  SaveInputOnDeath();
  for (const Input& input : corpus) Run(input);
  Random seeds(seed);
  for (uint64_t run = 0; run < runs; ++run) Run(Mutant(corpus, Random(seeds.Next())));
  std::printf("%zu files and %llu inputs made from them: no failure\n", corpus.size(),
              static_cast<unsigned long long>(runs));
}
