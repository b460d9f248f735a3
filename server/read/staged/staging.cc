#include "server/read/staged/staging.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// So much of an object is read at once.
constexpr uint64_t kReadBytes = uint64_t{4} << 20;

// Room is taken by steps.
constexpr uint64_t kRoomStep = uint64_t{16} << 20;

// An object that is smaller may shrink as it likes.
constexpr uint64_t kAnyRatioBytes = uint64_t{64} << 20;

std::string KeyOf(const Store& store, const Staging::Compressed& staged) {
  const ObjectInfo& object = staged.object;
  Fingerprint key(staged.compression == Compression::kNone ? "stoker.staged_copy.v1" : "stoker.staged.v1");
  for (const std::string& text : {store.identity(), object.name, object.version}) {
    key.AddNumber(text.size());
    key.AddBytes(text);
  }
  key.AddNumber(object.size);
  return key.Finish();
}

absl::Status DiskError(const std::string& path, const char* what, int error) {
  return NamedError(path, absl::UnavailableError(absl::StrCat(what, ": ", ErrnoText(error))));
}

// Whether a file still has a name. Whoever had a lock removes its file, so that a lock of a removed one says nothing.
bool HasName(const Descriptor& file) {
  struct stat status;
  return fstat(file.number(), &status) == 0 && status.st_nlink > 0;
}

// Waits until no other process or thread makes the file, and keeps them from it until the end.
absl::StatusOr<Descriptor> Lock(const std::string& path) {
  while (true) {
    Descriptor lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (lock.number() < 0) return DiskError(path, "cannot create", errno);
    while (flock(lock.number(), LOCK_EX) != 0)
      if (errno != EINTR) return DiskError(path, "cannot lock", errno);
    if (HasName(lock)) return lock;
  }
}

// Whether a file may be one of ours: its name is a SHA-256.
bool IsKeptName(const std::string& name) {
  return name.size() == 64 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

struct KeptFile {
  fs::path path;
  uint64_t bytes = 0;
  fs::file_time_type opened;
};

// Returns the whole files of a folder, from the one that was opened longest ago on.
std::vector<KeptFile> KeptFiles(const fs::path& folder) {
  std::vector<KeptFile> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!IsKeptName(entry->path().filename().string())) continue;
    std::error_code gone;
    const KeptFile file = {entry->path(), entry->file_size(gone), entry->last_write_time(gone)};
    if (!gone) files.push_back(file);
  }
  std::sort(files.begin(), files.end(), [](const KeptFile& a, const KeptFile& b) { return a.opened < b.opened; });
  return files;
}

// Removes what a process that was killed has left.
void RemoveLeftovers(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() != ".tmp" || !IsKeptName(entry->path().stem().string())) continue;
    const std::string lock_path = fs::path(entry->path()).replace_extension(".lock");
    const Descriptor lock(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (lock.number() < 0 || flock(lock.number(), LOCK_EX | LOCK_NB) != 0 || !HasName(lock)) continue;
    unlink(entry->path().c_str());
    unlink(lock_path.c_str());
  }
}

}  // namespace

// A file that is being written, and the room that it has taken.
class Staging::Making {
 public:
  Making(Staging& staging, std::string path) : staging_(staging), path_(std::move(path)) {}
  ~Making() {
    staging_.Shrink(room_);
    if (!is_kept_) unlink(path_.c_str());
  }

  absl::Status Create() {
    file_ = Descriptor(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    return file_.number() < 0 ? DiskError(path_, "cannot create", errno) : absl::OkStatus();
  }

  absl::Status Add(StagedFileWriter& writer, std::span<const uint8_t> plain) {
    // What follows the plain bytes is far below a step.
    while (writer.plain_bytes() + plain.size() + kRoomStep / 2 > room_) {
      STOKER_RETURN_IF_ERROR(staging_.Grow(kRoomStep));
      room_ += kRoomStep;
    }
    return Named(writer.Add(plain));
  }

  absl::Status Keep(StagedFileWriter& writer, const std::string& key, const std::string& path) {
    STOKER_RETURN_IF_ERROR(Named(writer.Finish(key)));
    if (close(file_.Release()) != 0) return DiskError(path_, "cannot close", errno);
    if (rename(path_.c_str(), path.c_str()) != 0) return DiskError(path_, "cannot rename", errno);
    is_kept_ = true;
    return absl::OkStatus();
  }

  int file() const { return file_.number(); }

 private:
  absl::Status Named(const absl::Status& status) const { return status.ok() ? status : NamedError(path_, status); }

  Staging& staging_;
  const std::string path_;
  Descriptor file_;
  uint64_t room_ = 0;
  bool is_kept_ = false;
};

absl::StatusOr<std::unique_ptr<Staging>> Staging::Open(Options options) {
  std::error_code error;
  fs::create_directories(options.path, error);
  if (error) return NamedError(options.path, absl::UnavailableError(error.message()));
  RemoveLeftovers(options.path);
  std::unique_ptr<Staging> staging(new Staging(std::move(options)));
  staging->MakeRoom(0);
  staging->TellRoom();
  return staging;
}

std::string Staging::PathOf(const std::string& key) const {
  return absl::StrCat(options_.path, "/", absl::BytesToHexString(key));
}

uint64_t Staging::BytesIn(const std::string& path) {
  uint64_t bytes = 0;
  for (const KeptFile& file : KeptFiles(path)) bytes += file.bytes;
  return bytes;
}

uint64_t Staging::bytes() const {
  absl::MutexLock lock(&mutex_);
  return kept_bytes_ + making_bytes_;
}

absl::StatusOr<Staging::Files> Staging::Stage(Store& store, const std::vector<Compressed>& objects) {
  uint64_t all = 0;
  for (const Compressed& one : objects) all += one.object.size;
  const bool are_copies = !objects.empty() && objects[0].compression == Compression::kNone;
  if (all > options_.size_bytes)
    return absl::ResourceExhaustedError(
        absl::StrCat("the ", are_copies ? "shards have " : "compressed shards alone have ", all,
                     " bytes, where raw_cache.disk.size allows ", options_.size_bytes,
                     are_copies ? " for them: raise it, or copy them to a local disk for good"
                                : " for them decompressed: raise it, or decompress them for good"));
  struct {
    absl::Mutex mutex;
    absl::Status status ABSL_GUARDED_BY(mutex);
    uint64_t taken ABSL_GUARDED_BY(mutex) = 0;
  } shared;
  Files files(objects.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto took = [&](uint64_t bytes) {
    absl::MutexLock lock(&shared.mutex);
    shared.taken += bytes;
    if (options_.progress) options_.progress(shared.taken, all);
  };
  const auto work = [&] {
    for (size_t i; !failed && (i = next++) < objects.size();) {
      auto file = StageOne(store, objects[i], took);
      if (file.ok()) {
        files[i] = *std::move(file);
        continue;
      }
      absl::MutexLock lock(&shared.mutex);
      shared.status.Update(file.status());
      failed = true;
    }
  };
  {
    std::vector<std::jthread> workers;
    for (size_t i = 1; i < std::min<size_t>(options_.threads, objects.size()); ++i) workers.emplace_back(work);
    work();
  }
  absl::MutexLock lock(&shared.mutex);
  STOKER_RETURN_IF_ERROR(shared.status);
  return files;
}

absl::StatusOr<std::shared_ptr<const StagedFile>> Staging::Restage(Store& store, const Compressed& object) {
  unlink(PathOf(KeyOf(store, object)).c_str());
  return StageOne(store, object, [](uint64_t) {});
}

absl::StatusOr<std::shared_ptr<const StagedFile>> Staging::OpenKept(const std::string& key) {
  const std::string path = PathOf(key);
  STOKER_ASSIGN_OR_RETURN(auto file, StagedFile::Open(path, key));
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // Files that were opened long ago are removed first.
  absl::MutexLock lock(&mutex_);
  open_[key] = file;
  return file;
}

absl::StatusOr<std::shared_ptr<const StagedFile>> Staging::StageOne(Store& store, const Compressed& object,
                                                                    const std::function<void(uint64_t)>& took) {
  const std::string key = KeyOf(store, object), lock_path = PathOf(key) + ".lock";
  auto kept = OpenKept(key);
  if (kept.ok()) {
    took(object.object.size);
    return kept;
  }
  std::error_code error;
  fs::create_directories(options_.path, error);  // Somebody may have deleted it.
  STOKER_ASSIGN_OR_RETURN(const Descriptor lock, Lock(lock_path));
  kept = OpenKept(key);  // Whoever had the lock may have made it.
  if (!kept.ok()) {
    const absl::Status made = Make(store, object, key, took);
    if (!made.ok()) {
      unlink(lock_path.c_str());
      return NamedError(object.object.name, made);
    }
    kept = OpenKept(key);
  }
  unlink(lock_path.c_str());
  return kept;
}

absl::Status Staging::Make(Store& store, const Compressed& object, const std::string& key,
                           const std::function<void(uint64_t)>& took) {
  const std::string path = PathOf(key);
  Making making(*this, path + ".tmp");
  STOKER_RETURN_IF_ERROR(making.Create());
  StagedFileWriter writer(making.file());
  const auto decompressor = Decompressor::Create(object.compression);
  const uint64_t size = object.object.size, most = std::max(kAnyRatioBytes, size * kMostRatio);
  const auto sink = [&](std::span<const uint8_t> plain) -> absl::Status {
    if (writer.plain_bytes() + plain.size() > most)
      return absl::ResourceExhaustedError(absl::StrCat("its ", size, " bytes become more than ", most,
                                                       " decompressed, as no data would: it is made to fill disks"));
    return making.Add(writer, plain);
  };
  std::vector<uint8_t> bytes;
  for (uint64_t offset = 0; offset < size; offset += bytes.size()) {
    bytes.resize(std::min(kReadBytes, size - offset));
    STOKER_RETURN_IF_ERROR(ReadNow(store, {&object.object, offset, bytes}));
    STOKER_RETURN_IF_ERROR(decompressor->Take(bytes, sink));
    took(bytes.size());
  }
  STOKER_RETURN_IF_ERROR(decompressor->Finish());
  STOKER_RETURN_IF_ERROR(making.Keep(writer, key, path));
  absl::MutexLock lock(&mutex_);
  kept_bytes_ += writer.plain_bytes();  // `making` gives back, and tells, what it had taken for them.
  return absl::OkStatus();
}

absl::Status Staging::Grow(uint64_t bytes) {
  const auto fits = [&] {
    absl::MutexLock lock(&mutex_);
    if (kept_bytes_ + making_bytes_ + bytes > options_.size_bytes) return false;
    making_bytes_ += bytes;
    return true;
  };
  bool has_room = fits();
  if (!has_room) {
    MakeRoom(bytes);
    has_room = fits();
  }
  TellRoom();
  if (has_room) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("raw_cache.disk.size, of which ", options_.size_bytes, " bytes are for staged shards, has no room ",
                   "for it beside the others: raise it, or decompress or copy the shards for good"));
}

void Staging::Shrink(uint64_t bytes) {
  {
    absl::MutexLock lock(&mutex_);
    making_bytes_ -= bytes;
  }
  TellRoom();
}

void Staging::TellRoom() {
  if (options_.on_room == nullptr) return;
  absl::MutexLock telling(&telling_);  // So that what is told last is what is so.
  options_.on_room(bytes());
}

void Staging::MakeRoom(uint64_t bytes) {
  absl::MutexLock removing(&removing_);
  std::vector<KeptFile> files = KeptFiles(options_.path);
  uint64_t all = 0;
  for (const KeptFile& file : files) all += file.bytes;
  uint64_t most;
  {
    absl::MutexLock lock(&mutex_);
    std::erase_if(open_, [](const auto& file) { return file.second.expired(); });
    most = options_.size_bytes - std::min(options_.size_bytes, making_bytes_ + bytes);
    std::erase_if(files, [&](const KeptFile& file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return open_.contains(absl::HexStringToBytes(file.path.filename().string()));
    });
  }
  for (const KeptFile& file : files) {
    if (all <= most) break;
    if (unlink(file.path.c_str()) == 0) all -= file.bytes;
  }
  absl::MutexLock lock(&mutex_);
  kept_bytes_ = all;
}

}  // namespace stoker
