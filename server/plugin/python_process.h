#ifndef STOKER_SERVER_PLUGIN_PYTHON_PROCESS_H_
#define STOKER_SERVER_PLUGIN_PYTHON_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/fields/image_size.h"
#include "common/identity/draws.h"

namespace stoker {

// How Python runs ops.
struct PythonOptions {
  std::string python = "python3";               // the program; without a slash it is looked for in the PATH
  absl::Duration patience = absl::Seconds(10);  // for one sample
  uint64_t memory_bytes = uint64_t{1} << 30;    // by which a process may grow after its start
  int processes = 1;                            // that are started ahead
};

// A process of Python that has loaded files with ops, and runs them, a sample at a time. Pixels go through memory that
// both map; what is asked and answered, through a socket. The other end is client/python/stoker/_op_worker.py.
//
// One thread at a time. The process ends with this object. When the server is killed it ends by itself, once an op in
// foreign code lets Python's threads run.
class PythonProcess {
 public:
  struct Call {
    uint32_t op = 0;          // its number in the offer
    std::string_view values;  // as CodeValues writes them
  };

  // Starts a process, and waits until it has loaded `files`. InvalidArgument is what Python says of them, and
  // FailedPrecondition of a Python that cannot run ops at all.
  static absl::StatusOr<std::unique_ptr<PythonProcess>> Start(const PythonOptions& options,
                                                              const std::vector<std::string>& files);

  ~PythonProcess();

  PythonProcess(const PythonProcess&) = delete;
  PythonProcess& operator=(const PythonProcess&) = delete;

  // Returns which ops it has, as JSON.
  const std::string& offer() const { return offer_; }

  // Makes the image `out` of `size_after` of `in`, both H×W×3 packed uint8. DataLoss blames the sample. Aborted names
  // what the op raised, and where; Internal says how the process ended.
  absl::Status Apply(const Call& call, const DrawKey& key, const uint8_t* in, ImageSize size, uint8_t* out,
                     ImageSize size_after);

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

  absl::Status Launch(const PythonOptions& options, const std::vector<std::string>& files);

  // Waits for a message. It stays valid until the next call.
  absl::StatusOr<std::string_view> Receive(absl::Duration patience);

  // Returns the answer to a request; any of Apply's errors.
  absl::StatusOr<Answer> Ask(const Request& request, std::string_view values);

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
