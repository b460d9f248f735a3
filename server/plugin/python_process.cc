#include "server/plugin/python_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/time/steady_time.h"
#include "server/read/child/spawn.h"
#include "server/read/printable_name.h"

extern char** environ;

namespace stoker {
namespace {

// Loading may read gigabytes of libraries from a cold disk.
constexpr absl::Duration kStartPatience = absl::Minutes(5);

constexpr size_t kMostMessage = size_t{1} << 17;

// Libraries start threads of their own by these. There is a process for each core already.
constexpr const char* kOneThread[] = {"OMP_NUM_THREADS=1",     "OPENBLAS_NUM_THREADS=1",   "MKL_NUM_THREADS=1",
                                      "NUMEXPR_NUM_THREADS=1", "OPENCV_FOR_THREADS_NUM=1", "VECLIB_MAXIMUM_THREADS=1"};

// So often it is looked whether another image in a room is done.
constexpr int64_t kLookMilliseconds = 100;

template <typename Struct>
std::string_view BytesOf(const Struct& bytes) {
  return {reinterpret_cast<const char*>(&bytes), sizeof bytes};
}

absl::Status SystemError(const char* what) {
  return absl::InternalError(absl::StrCat("cannot ", what, " for an op in Python: ", std::strerror(errno)));
}

// Returns this process's environment with a thread for each library.
std::vector<std::string> Environment() {
  std::vector<std::string> all(std::begin(kOneThread), std::end(kOneThread));
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('=') + 1);
    if (std::none_of(std::begin(kOneThread), std::end(kOneThread),
                     [&](std::string_view own) { return own.starts_with(name); }))
      all.emplace_back(*entry);
  }
  return all;
}

// Keeps this thread and the process that it waits for on this thread's core, where they take turns. Otherwise the
// kernel wakes each on a core that sleeps, which takes ten times as long. Where that is not allowed, it is slower.
class OneCore {
 public:
  // `core` is where the process was kept before, and is set.
  OneCore(pid_t process, int& core) : known_(sched_getaffinity(0, sizeof before_, &before_) == 0) {
    const int here = sched_getcpu();
    if (!known_ || here < 0 || here >= CPU_SETSIZE) return;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(here, &only);
    sched_setaffinity(0, sizeof only, &only);
    if (std::exchange(core, here) != here) sched_setaffinity(process, sizeof only, &only);
  }

  ~OneCore() {
    if (known_) sched_setaffinity(0, sizeof before_, &before_);
  }

  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
  cpu_set_t before_;
  const bool known_;
};

}  // namespace

// _REQUEST of _op_worker.py; the arguments' values follow.
struct PythonProcess::Request {
  enum Kind : uint32_t { kApply = 1, kSize = 2, kRoom = 3 };
  Kind kind;
  uint32_t op;
  int64_t height, width, height_after, width_after;
  uint64_t key, position;
};

// _ANSWER of _op_worker.py; text follows.
struct PythonProcess::Answer {
  enum Result : uint32_t { kOk = 0, kBadSample = 1, kFailed = 2, kLeaving = 3 };
  Result result;
  uint32_t in_place;  // 1: the result lies where the image was
  int64_t height, width;
};

// _ROOM_REQUEST of _op_worker.py; `images` RoomImages and `calls` RoomCalls follow, and the calls' values.
struct PythonProcess::RoomRequest {
  Request::Kind kind = Request::kRoom;
  uint32_t room, images, calls;
};

// _ROOM_IMAGE of _op_worker.py.
struct PythonProcess::RoomImage {
  uint32_t call, none;
  int64_t height, width, height_after, width_after;
  uint64_t key, position, in, out;
};

// _ROOM_CALL of _op_worker.py.
struct PythonProcess::RoomCall {
  uint32_t op, value_bytes;
};

absl::StatusOr<std::unique_ptr<PythonProcess>> PythonProcess::Start(const PythonOptions& options,
                                                                    const std::vector<std::string>& files,
                                                                    std::span<const int> rooms) {
  std::unique_ptr<PythonProcess> process(new PythonProcess(options));
  STOKER_RETURN_IF_ERROR(process->Launch(options, files, rooms));
  const auto offer = process->Receive(kStartPatience);
  if (!offer.ok())
    return absl::FailedPreconditionError(
        absl::StrCat("'", options.python, "' cannot run ops: ", offer.status().message(),
                     ". It needs the packages stoker, of this server's version, and numpy; what it printed is above. "
                     "python_ops.python names another Python"));
  process->offer_ = std::string(*offer);
  return process;
}

absl::Status PythonProcess::Launch(const PythonOptions& options, const std::vector<std::string>& files,
                                   std::span<const int> rooms) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return SystemError("make a socket");
  socket_ = ends[0];
  const auto close_other = absl::MakeCleanup([&] { close(ends[1]); });
  memory_ = memfd_create("stoker-ops", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  // Nobody can take away what the other reads.
  if (memory_ < 0 || fcntl(memory_, F_ADD_SEALS, F_SEAL_SHRINK) != 0) return SystemError("make shared memory");

  SpawnOptions spawn = {.program = options.python,
                        .arguments = {"-m", "stoker._op_worker", absl::StrCat(options.memory_bytes)},
                        .environment = Environment(),
                        .descriptors = {-1, STDERR_FILENO, STDERR_FILENO, ends[1], memory_}};
  spawn.descriptors.insert(spawn.descriptors.end(), rooms.begin(), rooms.end());
  spawn.arguments.insert(spawn.arguments.end(), files.begin(), files.end());
  const auto process = Spawn(spawn);
  if (!process.ok())
    return absl::FailedPreconditionError(absl::StrCat("python_ops.python: ", process.status().message()));
  process_ = *process;
  return absl::OkStatus();
}

PythonProcess::~PythonProcess() {
  End();
  if (socket_ >= 0) close(socket_);
  if (pixels_ != nullptr) munmap(pixels_, bytes_);
  if (memory_ >= 0) close(memory_);
}

std::string PythonProcess::End() {
  usable_ = false;
  if (process_ < 0) return "has ended";
  return HowItEnded(EndProcess(std::exchange(process_, -1), socket_));
}

bool PythonProcess::Runs() const {
  pollfd closed = {socket_, 0, 0};
  return usable_ && poll(&closed, 1, 0) == 0;
}

bool PythonProcess::Progresses(Watch& watch) {
  if (watch.stop()) watch.room.Stop();
  const size_t before = std::exchange(watch.done, watch.room.Done());
  return watch.done > before;
}

absl::StatusOr<std::string_view> PythonProcess::Receive(absl::Duration patience, Watch* watch) {
  absl::Time until = SteadyNow() + patience;
  for (;;) {
    pollfd waiting = {socket_, POLLIN, 0};
    int64_t wait = std::max<int64_t>(0, absl::ToInt64Milliseconds(until - SteadyNow()) + 1);
    if (watch != nullptr) wait = std::min(wait, kLookMilliseconds);
    const int ready = poll(&waiting, 1, static_cast<int>(wait));
    if (ready < 0 && errno == EINTR) continue;
    if (ready > 0) break;
    if (watch != nullptr && Progresses(*watch)) until = SteadyNow() + patience;
    if (SteadyNow() < until) continue;
    End();
    return absl::InternalError(
        absl::StrCat("its process took longer than ", absl::FormatDuration(patience), ", and was killed"));
  }
  message_.resize(kMostMessage);
  const ssize_t bytes = recv(socket_, message_.data(), message_.size(), 0);
  if (bytes <= 0) return absl::InternalError(absl::StrCat("its process ", End()));
  return std::string_view(message_.data(), bytes);
}

absl::StatusOr<PythonProcess::Answer> PythonProcess::Ask(std::string_view request, std::string_view more,
                                                         Watch* watch) {
  if (!usable_) return absl::InternalError("its process has ended");
  iovec parts[] = {{const_cast<char*>(request.data()), request.size()}, {const_cast<char*>(more.data()), more.size()}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = std::size(parts);
  if (sendmsg(socket_, &message, MSG_NOSIGNAL) < 0) return absl::InternalError(absl::StrCat("its process ", End()));
  STOKER_ASSIGN_OR_RETURN(const std::string_view received, Receive(patience_, watch));
  Answer answer;
  if (received.size() < sizeof answer) {
    End();
    return absl::InternalError("its process answered with too few bytes");
  }
  std::memcpy(&answer, received.data(), sizeof answer);
  const std::string text = PrintableName(received.substr(sizeof answer));
  switch (answer.result) {
    case Answer::kOk: return answer;
    case Answer::kBadSample: return absl::DataLossError(text);
    case Answer::kLeaving: End(); return absl::InternalError(absl::StrCat(text, "; its process was replaced"));
    default: return absl::AbortedError(text);
  }
}

absl::Status PythonProcess::Reserve(size_t bytes) {
  if (bytes <= bytes_) return absl::OkStatus();
  bytes = std::max(bytes, 2 * bytes_);
  if (ftruncate(memory_, static_cast<off_t>(bytes)) != 0) return SystemError("get memory");
  void* const pixels = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
  if (pixels == MAP_FAILED) return SystemError("map memory");
  if (pixels_ != nullptr) munmap(pixels_, bytes_);
  pixels_ = static_cast<uint8_t*>(pixels);
  bytes_ = bytes;
  return absl::OkStatus();
}

absl::Status PythonProcess::Apply(const Call& call, const DrawKey& key, const uint8_t* in, ImageSize size, uint8_t* out,
                                  ImageSize size_after) {
  const size_t in_bytes = PixelBytes(size), out_bytes = PixelBytes(size_after);
  const size_t out_offset = (in_bytes + kImageAlignment - 1) / kImageAlignment * kImageAlignment;
  STOKER_RETURN_IF_ERROR(Reserve(out_offset + out_bytes));
  std::memcpy(pixels_, in, in_bytes);
  const OneCore core(process_, core_);
  const Request request = {Request::kApply,   call.op,          size.height,          size.width,
                           size_after.height, size_after.width, Draws::MixedKey(key), key.position};
  STOKER_ASSIGN_OR_RETURN(const Answer answer, Ask(BytesOf(request), call.values));
  if (answer.in_place != 0 && size != size_after)
    return absl::InternalError("its process answered with an image of another size");
  std::memcpy(out, pixels_ + (answer.in_place != 0 ? 0 : out_offset), out_bytes);
  return absl::OkStatus();
}

absl::Status PythonProcess::ApplyAll(PythonRoom& room, uint32_t number, std::span<const Image> images,
                                     const std::function<bool()>& stop) {
  std::vector<RoomImage> all;
  std::vector<Call> calls;
  for (const Image& image : images) {
    const auto known = std::find_if(calls.begin(), calls.end(), [&](const Call& call) {
      return call.op == image.call.op && call.values == image.call.values;
    });
    const auto call = static_cast<uint32_t>(known - calls.begin());
    if (known == calls.end()) calls.push_back(image.call);
    all.push_back({call, 0, image.size.height, image.size.width, image.size_after.height, image.size_after.width,
                   Draws::MixedKey(image.key), image.key.position, image.in, image.out});
  }
  const RoomRequest request = {
      .room = number, .images = static_cast<uint32_t>(all.size()), .calls = static_cast<uint32_t>(calls.size())};
  std::string more;
  for (const RoomImage& image : all) more += BytesOf(image);
  for (const Call& call : calls) more += BytesOf(RoomCall{call.op, static_cast<uint32_t>(call.values.size())});
  for (const Call& call : calls) more += call.values;
  room.Clear();
  const OneCore core(process_, core_);
  Watch watch = {room, stop};
  return Ask(BytesOf(request), more, &watch).status();
}

absl::StatusOr<ImageSize> PythonProcess::SizeAfter(const Call& call, ImageSize size) {
  const Request request = {Request::kSize, call.op, size.height, size.width, 0, 0, 0, 0};
  STOKER_ASSIGN_OR_RETURN(const Answer answer, Ask(BytesOf(request), call.values));
  return ImageSize{answer.height, answer.width};
}

}  // namespace stoker
