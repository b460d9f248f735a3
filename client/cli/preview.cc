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
#include "client/cli/stop_signal.h"
#include "client/loader/loader.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr char kPreviewExamples[] = R"(Examples:
  stoker preview --servers cpu1:7077 --pipeline train.yaml
      Draw what the servers make of the first 32 samples into sheet.png. Ops on the device are left out. Behind each
      image stand copies of it with its maps laid over it, and with its boxes and keypoints. Below it stand its texts and
      numbers; texts are printed too.
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

absl::StatusOr<Picture> FirstImages(Loader& loader, int64_t count) {
  STOKER_ASSIGN_OR_RETURN(const std::optional<Batch> batch, loader.Next());
  if (!batch.has_value()) return absl::NotFoundError("the dataset is empty");
  STOKER_ASSIGN_OR_RETURN(const auto native, FindNativeImages(batch->server_tensors(), count));
  const Tensor* images = native.has_value() ? &native->tensor : FindImages(batch->server_tensors());
  if (images == nullptr)
    return absl::NotFoundError("there is no image to show: no field is height × width × 3 bytes; see stoker describe");
  const auto& sent = loader.description().fields();
  const auto captions = CaptionsOf(batch->server_tensors(), std::min(count, batch->size()), sent);
  PrintTexts(captions);
  return ContactSheet(*images, count, FindOverlays(*images, batch->server_tensors(), sent), LinesOf(captions));
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
