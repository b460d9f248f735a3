#ifndef STOKER_SERVER_DECODE_LIBJPEG_ERRORS_H_
#define STOKER_SERVER_DECODE_LIBJPEG_ERRORS_H_

#include <csetjmp>
#include <cstddef>
#include <cstdio>
// libjpeg's headers need <cstddef> and <cstdio> before them.
#include <jerror.h>
#include <jpeglib.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace stoker {

// Where libjpeg's errors end up. What it calls finds this at codec->err.
struct LibjpegErrors {
  jpeg_error_mgr manager;  // First: libjpeg hands its address to the functions below.
  std::jmp_buf jump;

  // The error manager for codecs, which never prints or exits.
  jpeg_error_mgr* Set(void (*on_message)(j_common_ptr codec, int level)) {
    jpeg_std_error(&manager);
    manager.error_exit = Leave;
    manager.emit_message = on_message;
    return &manager;
  }

  // Ends the step that is running.
  [[noreturn]] static void Leave(j_common_ptr codec) {
    std::longjmp(reinterpret_cast<LibjpegErrors*>(codec->err)->jump, 1);
  }

  // False if libjpeg left `step`. That skips destructors: a step owns nothing.
  template <typename Step>
  bool Run(const Step& step) {
    if (setjmp(jump) != 0) return false;
    step();
    return true;
  }

  // Why: ResourceExhausted for want of memory, else DataLoss, its reason after `prefix`.
  absl::Status Reason(j_common_ptr codec, absl::string_view prefix) const {
    char reason[JMSG_LENGTH_MAX];
    manager.format_message(codec, reason);
    if (manager.msg_code == JERR_OUT_OF_MEMORY) return absl::ResourceExhaustedError(reason);
    return absl::DataLossError(absl::StrCat(prefix, reason));
  }
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_LIBJPEG_ERRORS_H_
