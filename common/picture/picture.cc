#include "common/picture/picture.h"

#include <spng.h>

#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

absl::Status ToStatus(int error) {
  if (error == SPNG_OK) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("cannot encode the picture as PNG: ", spng_strerror(error)));
}

}  // namespace

absl::StatusOr<std::string> EncodePng(const Picture& picture) {
  const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(SPNG_CTX_ENCODER), spng_ctx_free);
  if (context == nullptr) return ToStatus(SPNG_EMEM);
  spng_ihdr header = {.width = static_cast<uint32_t>(picture.width),
                      .height = static_cast<uint32_t>(picture.height),
                      .bit_depth = 8,
                      .color_type = SPNG_COLOR_TYPE_TRUECOLOR};
  STOKER_RETURN_IF_ERROR(ToStatus(spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1)));
  STOKER_RETURN_IF_ERROR(ToStatus(spng_set_ihdr(context.get(), &header)));
  STOKER_RETURN_IF_ERROR(ToStatus(spng_encode_image(context.get(), picture.pixels.data(), picture.pixels.size(),
                                                    SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE)));
  int error = SPNG_OK;
  size_t size = 0;
  const std::unique_ptr<void, decltype(&std::free)> png(spng_get_png_buffer(context.get(), &size, &error), std::free);
  STOKER_RETURN_IF_ERROR(ToStatus(error));
  return std::string(static_cast<const char*>(png.get()), size);
}

}  // namespace stoker
