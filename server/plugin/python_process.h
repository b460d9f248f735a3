#ifndef STOKER_SERVER_PLUGIN_PYTHON_PROCESS_H_
#define STOKER_SERVER_PLUGIN_PYTHON_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/fields/image_size.h"
#include "common/identity/draws.h"
#include "server/plugin/python_room.h"

namespace stoker {

// How Python runs ops.
struct PythonOptions {
  std::string python = "python3";               // the program; without a slash it is looked for in the PATH
  absl::Duration patience = absl::Seconds(10);  // for one sample
  uint64_t memory_bytes = uint64_t{1} << 30;    // by which a process may grow after its start
  int processes = 1;                            // that are started ahead
};

// A process of Python that has loaded files with ops, and runs them, on one image or on those in a room. Pixels go
// through memory that both map; what is asked and answered, through a socket. The other end is
// client/python/stoker/_op_worker.py.
//
// One thread at a time. The process ends with this object. When the server is killed it ends by itself, once an op in
// foreign code lets Python's threads run.
class PythonProcess {
 public:
  struct Call {
    uint32_t op = 0;          // its number in the offer
    std::string_view values;  // as CodeValues writes them
  };

  // An image in a room.
  struct Image {
    Call call;
    DrawKey key;
    ImageSize size, size_after;
    uint64_t in = 0, out = 0;  // where it lies there, and where it is to go if its size changes
  };

  // Starts a process, and waits until it has loaded `files`. `rooms` are the descriptors of those that it will be asked
  // to work in. InvalidArgument is what Python says of the files, and FailedPrecondition of a Python that cannot run
  // ops at all.
  static absl::StatusOr<std::unique_ptr<PythonProcess>> Start(const PythonOptions& options,
                                                              const std::vector<std::string>& files,
                                                              std::span<const int> rooms);

  ~PythonProcess();

  PythonProcess(const PythonProcess&) = delete;
  PythonProcess& operator=(const PythonProcess&) = delete;

  // Returns which ops it has, as JSON.
  const std::string& offer() const { return offer_; }

  // Makes the image `out` of `size_after` of `in`, both H×W×3 packed uint8. DataLoss blames the sample. Aborted names
  // what the op raised, and where; Internal says how the process ended.
  absl::Status Apply(const Call& call, const DrawKey& key, const uint8_t* in, ImageSize size, uint8_t* out,
                     ImageSize size_after);

  // Has the op of each of `images` work on it, in room number `number`. Then the room has their results, up to the
  // first that failed, or until `stop` says that nobody needs them any more. Internal says how the process ended over
  // the image that is not done.
  absl::Status ApplyAll(PythonRoom& room, uint32_t number, std::span<const Image> images,
                        const std::function<bool()>& stop);

  // Returns the size of an image after the op. Errors as above.
  absl::StatusOr<ImageSize> SizeAfter(const Call& call, ImageSize size);

  // Returns whether it can be asked again. Once it cannot, it never can.
  bool usable() const { return usable_; }

  // Returns whether the process runs still; it may have been killed since it was asked.
  bool Runs() const;

 private:
  struct Request;
  struct Answer;

  explicit PythonProcess(const PythonOptions& options) : patience_(options.patience) {}

  struct RoomRequest;
  struct RoomImage;
  struct RoomCall;

  absl::Status Launch(const PythonOptions& options, const std::vector<std::string>& files, std::span<const int> rooms);

  // What to look at while the process works in a room.
  struct Watch {
    PythonRoom& room;
    const std::function<bool()>& stop;
    size_t done = 0;
  };

  // Waits for a message, for as long as `patience`, and anew whenever another image is done. It stays valid until the
  // next call.
  absl::StatusOr<std::string_view> Receive(absl::Duration patience, Watch* watch = nullptr);

  // Returns whether another image is done.
  static bool Progresses(Watch& watch);

  // Returns the answer to a request, which has two parts; any of Apply's errors.
  absl::StatusOr<Answer> Ask(std::string_view request, std::string_view more, Watch* watch = nullptr);

  // Makes room for `bytes` in the memory that both map.
  absl::Status Reserve(size_t bytes);

  // Ends the process, if it did not end by itself, and returns how it ended: "ended by signal 11, SIGSEGV".
  std::string End();

  const absl::Duration patience_;
  pid_t process_ = -1;
  int socket_ = -1, memory_ = -1;
  uint8_t* pixels_ = nullptr;
  size_t bytes_ = 0;  // of `pixels_`
  std::string offer_;
  std::vector<char> message_;  // room for the latest one
  bool usable_ = true;
  int core_ = -1;  // on which the process is kept; -1 for any
};

}  // namespace stoker

#endif  // STOKER_SERVER_PLUGIN_PYTHON_PROCESS_H_
