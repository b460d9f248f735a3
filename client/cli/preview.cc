#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/captions.h"
#include "client/cli/commands.h"
#include "client/cli/compare.h"
#include "client/cli/contact_sheet.h"
#include "client/cli/flags.h"
#include "client/cli/native_images.h"
#include "client/cli/output_file.h"
#include "client/cli/printable.h"
#include "client/cli/spectrogram.h"
#include "client/cli/stop_signal.h"
#include "client/loader/loader.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr char kPreviewExamples[] = R"(Examples:
  stoker preview --servers cpu1:7077 --pipeline train.yaml
      Draw what the servers make of the first 32 samples into sheet.png. Ops on the device are left out. Behind each
      image stand copies of it with its maps laid over it, and with its boxes and keypoints, and spectrograms of its
      audio. Below it stand its texts and numbers; texts are printed too.
  stoker preview --servers cpu1:7077 --seed 1 --count 64 --output another.png
      Draw 64 samples in the order of another seed.
  stoker preview --servers cpu1:7077 --pipeline train.yaml --compare
      Draw each image as servers make it and, beside it, with as many of the last ops as can be on the device, here the
      CPU. Print by how many levels of 255 they differ.)";

struct PreviewFlags {
  SourceFlags source;
  JobFlags job;
  int64_t count = 32;
  std::string output = "sheet.png";
  bool compare = false;
};

// Prints the texts of the samples, a line for each: "3 caption: a dog".
void PrintTexts(const std::vector<std::vector<Caption>>& captions) {
  for (size_t sample = 0; sample < captions.size(); ++sample)
    for (const Caption& caption : captions[sample])
      if (caption.is_text) absl::PrintF("%d %s: %s\n", sample + 1, Printable(caption.field), Printable(caption.value));
}

// What stands below each image: "caption: a dog".
std::vector<std::vector<std::string>> LinesOf(const std::vector<std::vector<Caption>>& captions) {
  std::vector<std::vector<std::string>> lines(captions.size());
  for (size_t sample = 0; sample < captions.size(); ++sample)
    for (const Caption& caption : captions[sample])
      lines[sample].push_back(absl::StrCat(caption.field, ": ", caption.value));
  return lines;
}

// Draws every field of audio, as large as the images. Views have no audio beside them.
std::vector<FieldPictures> AudioPictures(const std::vector<Tensor>& fields, int64_t count,
                                         const google::protobuf::RepeatedPtrField<v1::Field>& sent,
                                         const Tensor* images) {
  constexpr int64_t kHeight = 128, kWidth = 256;  // without images
  std::vector<FieldPictures> pictures;
  if (images != nullptr && images->shape.size() != 4) return pictures;
  const int64_t height = images == nullptr ? kHeight : images->shape[1];
  const int64_t width = images == nullptr ? kWidth : images->shape[2];
  for (int i = 0; i < sent.size(); ++i)
    if (IsAudio(sent[i])) pictures.push_back(SpectrogramsOf(fields, count, sent, i, height, width));
  return pictures;
}

absl::StatusOr<Picture> FirstImages(Loader& loader, int64_t count) {
  STOKER_ASSIGN_OR_RETURN(const std::optional<Batch> batch, loader.Next());
  if (!batch.has_value()) return absl::NotFoundError("the dataset is empty");
  const std::vector<Tensor>& fields = batch->server_tensors();
  const auto& sent = loader.description().fields();
  count = std::min(count, batch->size());
  const auto captions = CaptionsOf(fields, count, sent);
  PrintTexts(captions);
  STOKER_ASSIGN_OR_RETURN(const auto native, FindNativeImages(fields, count));
  const Tensor* const images = native.has_value() ? &native->tensor : FindImages(fields);
  Overlays overlays = images == nullptr ? Overlays() : FindOverlays(*images, fields, sent);
  const std::vector<FieldPictures> audio = AudioPictures(fields, count, sent, images);
  for (const FieldPictures& pictures : audio) overlays.pictures.push_back(pictures.tensor);
  if (images != nullptr) return ContactSheet(*images, count, overlays, LinesOf(captions));
  if (audio.empty())
    return absl::NotFoundError(
        "there is nothing to show: no field is height × width × 3 bytes, or audio; see stoker describe");
  overlays.pictures.erase(overlays.pictures.begin());
  return ContactSheet(audio[0].tensor, count, overlays, LinesOf(captions));
}

// Prints a line for each sample, and one of all.
void PrintComparison(const Comparison& comparison) {
  LevelDifference all;
  for (size_t sample = 0; sample < comparison.differences.size(); ++sample) {
    const LevelDifference& one = comparison.differences[sample];
    absl::PrintF("%d: up to %d levels, %.3f on average\n", sample + 1, one.greatest, one.mean);
    all.greatest = std::max(all.greatest, one.greatest);
    all.mean += one.mean / static_cast<double>(comparison.differences.size());
  }
  absl::PrintF("%s on the device: up to %d levels, %.3f on average\n", absl::StrJoin(comparison.moved, ", "),
               all.greatest, all.mean);
}

absl::StatusOr<Picture> ComparedImages(const LoaderOptions& options, const Loader& loader) {
  STOKER_ASSIGN_OR_RETURN(Comparison comparison, Compare(options, loader.description().pipeline()));
  PrintComparison(comparison);
  return std::move(comparison.sheet);
}

absl::StatusOr<int> RunPreview(const PreviewFlags& flags) {
  STOKER_RETURN_IF_ERROR(CheckWritable(flags.output));
  StopSignal signal;
  STOKER_ASSIGN_OR_RETURN(const Source source, OpenSource(flags.source));
  LoaderOptions options = LoaderOptionsFor(source, flags.job);
  options.batch_size = flags.count;
  options.prefetch = 1;
  STOKER_ASSIGN_OR_RETURN(const auto loader, Loader::Create(options));
  const StopSignal::Handler cancel(signal, [&] { loader->Cancel(); });
  const auto sheet = flags.compare ? ComparedImages(options, *loader) : FirstImages(*loader, flags.count);
  if (signal.exit_code() != 0) return signal.exit_code();
  STOKER_RETURN_IF_ERROR(sheet.status());
  STOKER_ASSIGN_OR_RETURN(const std::string png, EncodePng(*sheet));
  STOKER_RETURN_IF_ERROR(WriteFile(flags.output, png));
  absl::PrintF("%s: %d×%d pixels\n", flags.output, sheet->width, sheet->height);
  return 0;
}

}  // namespace

void AddPreview(CLI::App& app, Command& chosen) {
  CLI::App* command =
      app.add_subcommand("preview", "Draw a contact sheet of what the servers make of the first samples");
  const auto flags = std::make_shared<PreviewFlags>();
  AddSourceFlags(*command, flags->source);
  command->add_option("--count", flags->count, "Number of images [32]")
      ->check(Silent(CLI::Range(1, 1024)))
      ->type_name("N");
  command->add_option("--output", flags->output, "Where to put the picture [sheet.png]")->type_name("FILE.png");
  command->add_option("--seed", flags->job.seed, "Seed of the order and of all random ops [0]")
      ->check(WholeNumber())
      ->type_name("N");
  command->add_flag("--compare", flags->compare,
                    "Draw what ops make on the server beside what they make on the device");
  command->footer(kPreviewExamples);
  command->callback([flags, &chosen] { chosen = [flags] { return RunPreview(*flags); }; });
}

}  // namespace stoker
