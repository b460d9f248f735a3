#include "server/prepare/file_maker.h"

#include "common/check.h"
#include "server/prepare/lossless_maker.h"
#include "server/prepare/packed_maker.h"
#include "server/prepare/short_side_maker.h"
#include "server/read/formats/files/image_files.h"

namespace stoker {

absl::StatusOr<MadeFile> MakeFile(FileMaker& maker, std::span<const uint8_t> file) {
  auto made = maker.Make(file);
  if (made.ok() && made->bytes.has_value() && made->bytes->size() > kMaxImageFileBytes)
    return MadeFile{.problem = "it would grow beyond what stokerd reads"};
  return made;
}

std::unique_ptr<FileMaker> CreateFileMaker(const v1::Prepared& prepared) {
  switch (prepared.mode_case()) {
    case v1::Prepared::kLossless: return std::make_unique<LosslessMaker>(prepared.lossless());
    case v1::Prepared::kShortSide: return std::make_unique<ShortSideMaker>(prepared.short_side());
    case v1::Prepared::kPipeline: return std::make_unique<PackedMaker>(prepared.pipeline());
    case v1::Prepared::MODE_NOT_SET: break;
  }
  STOKER_CHECK(false);
  return nullptr;
}

}  // namespace stoker
