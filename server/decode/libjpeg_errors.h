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
#include "server/decode/flaw.h"

namespace stoker {

// Receives the errors of one libjpeg codec and turns them into a Status. An error ends the running step by longjmp;
// libjpeg alone would exit the process. The functions that libjpeg calls find this struct at codec->err, so it must
// stay where it is while the codec lives. It is used by one thread at a time.
struct LibjpegErrors {
  jpeg_error_mgr manager;  // It comes first, because libjpeg hands its address to the functions below.
  std::jmp_buf jump;

  // Sets up and returns the error manager for a codec. It never prints or exits. It calls `on_message` for each warning
  // (a negative `level`) and trace.
  jpeg_error_mgr* Set(void (*on_message)(j_common_ptr codec, int level)) {
    jpeg_std_error(&manager);
    manager.error_exit = Leave;
    manager.emit_message = on_message;
    return &manager;
  }

  // Ends the step that is running. It is called within Run only.
  [[noreturn]] static void Leave(j_common_ptr codec) {
    std::longjmp(reinterpret_cast<LibjpegErrors*>(codec->err)->jump, 1);
  }

  // Calls `step`. Returns false if libjpeg left it early. Leaving skips destructors, so a step must own nothing.
  template <typename Step>
  bool Run(const Step& step) {
    if (setjmp(jump) != 0) return false;
    step();
    return true;
  }

  // Returns why the last step failed: ResourceExhausted where memory ran out, else DataLoss with libjpeg's words after
  // `prefix`.
  absl::Status Reason(j_common_ptr codec, absl::string_view prefix) const {
    char reason[JMSG_LENGTH_MAX];
    manager.format_message(codec, reason);
    if (manager.msg_code == JERR_OUT_OF_MEMORY) return absl::ResourceExhaustedError(reason);
    const bool ended = manager.msg_code == JWRN_JPEG_EOF || manager.msg_code == JERR_INPUT_EOF;
    return FlawError(ended ? Flaw::kTruncated : Flaw::kDamaged, absl::StrCat(prefix, reason));
  }
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_LIBJPEG_ERRORS_H_
