#ifndef STOKER_SERVER_WORK_DECODER_OPTIONS_H_
#define STOKER_SERVER_WORK_DECODER_OPTIONS_H_

#include "common/pipeline/server_pipeline.h"
#include "server/decode/options.h"

namespace stoker {

// Returns how the pipeline has a field's files decoded. Refers to `interrupt`.
inline DecodeOptions DecoderOptions(const ServerPipeline& pipeline, const SourceField& field,
                                    const Interrupt& interrupt) {
  return {.content = ContentOf(field),
          .max_pixels = pipeline.max_pixels(),
          .max_scans = pipeline.max_scans(),
          .warnings = pipeline.decode_warnings(),
          .interrupt = &interrupt};
}

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_DECODER_OPTIONS_H_
