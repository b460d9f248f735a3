#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "client/cli/commands.h"
#include "client/cli/flags.h"
#include "client/cli/progress.h"
#include "client/cli/stop_signal.h"
#include "client/loader/epoch_digest.h"
#include "client/loader/loader.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr char kExamples[] = R"(Examples:
  stoker digest --servers cpu1:7077 --dataset imagenet --epoch 3
      The SHA-256 of all samples of epoch 3 in order, as the servers send them. It depends on the dataset, the pipeline,
      the seed, the shuffle and the epoch, and on nothing else.
  stoker digest --servers cpu2:7077,cpu3:7077 --dataset imagenet --epoch 3
      The same number, if these servers agree with that one.)";

struct DigestFlags {
  SourceFlags source;
  JobFlags job;
  uint64_t epoch = 0;
};

absl::StatusOr<std::string> DigestOf(Loader& loader, uint64_t epoch) {
  loader.SetEpoch(epoch);
  EpochDigest digest;
  Progress progress(loader.batches_per_epoch(), /*quiet=*/isatty(STDERR_FILENO) != 1);
  for (uint64_t batches = 1;; ++batches) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Batch> batch, loader.Next());
    if (!batch.has_value()) return digest.Hex();
    STOKER_RETURN_IF_ERROR(digest.Add(*batch));
    progress.Update(batches, digest.samples());
  }
}

absl::StatusOr<int> RunDigest(const DigestFlags& flags) {
  StopSignal signal;
  STOKER_ASSIGN_OR_RETURN(const Source source, OpenSource(flags.source));
  STOKER_ASSIGN_OR_RETURN(const auto loader, Loader::Create(LoaderOptionsFor(source, flags.job)));
  const StopSignal::Handler cancel(signal, [&] { loader->Cancel(); });
  const auto hex = DigestOf(*loader, flags.epoch);
  if (signal.exit_code() != 0) return signal.exit_code();
  STOKER_RETURN_IF_ERROR(hex.status());
  std::printf("%s\n", hex->c_str());
  return 0;
}

}  // namespace

void AddDigest(CLI::App& app, Command& chosen) {
  CLI::App* command = app.add_subcommand("digest", "Print one number that stands for every byte of an epoch");
  const auto flags = std::make_shared<DigestFlags>();
  AddSourceFlags(*command, flags->source);
  AddJobFlags(*command, flags->job);
  command->add_option("--epoch", flags->epoch, "Counted from 0 [0]")->check(WholeNumber())->type_name("N");
  command->footer(kExamples);
  command->callback([flags, &chosen] { chosen = [flags] { return RunDigest(*flags); }; });
}

}  // namespace stoker
