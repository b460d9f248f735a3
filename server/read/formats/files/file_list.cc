#include "server/read/formats/files/file_list.h"

#include <algorithm>
#include <numeric>

namespace stoker {

void FileList::Add(std::string_view path, uint32_t bytes, uint32_t modified) {
  paths += path;
  path_ends.push_back(paths.size());
  sizes.push_back(bytes);
  this->modified.push_back(modified);
}

void FileList::Append(const FileList& other) {
  const uint64_t offset = paths.size();
  paths += other.paths;
  for (uint64_t end : other.path_ends) path_ends.push_back(offset + end);
  sizes.insert(sizes.end(), other.sizes.begin(), other.sizes.end());
  modified.insert(modified.end(), other.modified.begin(), other.modified.end());
}

std::string_view FileList::path(uint64_t i) const {
  const uint64_t begin = i == 0 ? 0 : path_ends[i - 1];
  return std::string_view(paths).substr(begin, path_ends[i] - begin);
}

FileList FileList::Sorted() const {
  std::vector<uint64_t> order(size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [this](uint64_t a, uint64_t b) { return path(a) < path(b); });
  FileList sorted;
  sorted.paths.reserve(paths.size());
  sorted.path_ends.reserve(size());
  sorted.sizes.reserve(size());
  sorted.modified.reserve(size());
  for (uint64_t i : order) sorted.Add(path(i), sizes[i], modified[i]);
  return sorted;
}

bool FileList::RangesNest() const {
  uint64_t begin = 0;
  for (uint64_t end : path_ends) {
    if (end <= begin || end > paths.size()) return false;
    begin = end;
  }
  return sizes.size() == path_ends.size() && modified.size() == path_ends.size() && begin == paths.size();
}

uint64_t FileList::resident_bytes() const {
  return paths.capacity() + path_ends.capacity() * sizeof(path_ends[0]) + sizes.capacity() * sizeof(sizes[0]) +
         modified.capacity() * sizeof(modified[0]);
}

bool StaysBelow(std::string_view path) {
  while (true) {
    const size_t slash = path.find('/');
    const std::string_view component = path.substr(0, slash);
    if (component.empty() || component == "." || component == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace stoker
