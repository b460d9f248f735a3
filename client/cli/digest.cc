#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/flags.h"
#include "client/cli/progress.h"
#include "client/cli/state_file.h"
#include "client/cli/stop_signal.h"
#include "client/loader/epoch_digest.h"
#include "client/loader/loader.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr char kDigestExamples[] = R"(Examples:
  stoker digest --servers cpu1:7077 --dataset imagenet --epoch 3
      The SHA-256 of all samples of epoch 3 in order, as the servers send them. It depends on the dataset, the pipeline,
      the seed, the shuffle and the epoch, and on nothing else.
  stoker digest --servers cpu2:7077,cpu3:7077 --dataset imagenet --epoch 3
      The same number, if these servers agree with that one.
  stoker digest --servers cpu1:7077 --dataset imagenet --state imagenet.state
      The same, for long epochs: after Ctrl-C or an error the same command goes on where it stopped, and prints the
      number of the whole epoch. After an epoch's end it takes the next epoch; stderr says which.)";

struct DigestFlags {
  SourceFlags source;
  JobFlags job;
  std::optional<uint64_t> epoch;
  std::string state;
};

// Adds to `digest` the epoch in which the loader stands, from `position`, where it stands.
absl::Status ReadToEnd(Loader& loader, uint64_t position, EpochDigest& digest) {
  const uint64_t samples = loader.description().identity().samples();
  Progress progress(BatchesLeft(loader, position), /*quiet=*/isatty(STDERR_FILENO) != 1);
  for (uint64_t batches = 1; digest.samples() < samples; ++batches) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Batch> batch, loader.Next());
    if (!batch.has_value()) break;
    STOKER_RETURN_IF_ERROR(digest.Add(*batch));
    progress.Update(batches, digest.samples());
  }
  return absl::OkStatus();
}

// Moves the loader to where the flags say.
absl::StatusOr<SavedState> Begin(const DigestFlags& flags, Loader& loader) {
  STOKER_ASSIGN_OR_RETURN(SavedState saved, RestoreFrom(flags.state, loader));
  if (!saved.found) {
    saved.cursor.epoch = flags.epoch.value_or(0);
    loader.SetEpoch(saved.cursor.epoch);
  } else if (flags.epoch.value_or(saved.cursor.epoch) != saved.cursor.epoch) {
    return absl::InvalidArgumentError(absl::StrCat("--epoch ", *flags.epoch, ": ", flags.state, " stands in epoch ",
                                                   saved.cursor.epoch, "; leave out --epoch or --state"));
  }
  return saved;
}

void Tell(const DigestFlags& flags, const char* what, const Loader& loader) {
  if (!flags.state.empty())
    std::fprintf(stderr, "stoker: %s %s (%s)\n", what, PlaceOf(loader).c_str(), flags.state.c_str());
}

absl::StatusOr<int> RunDigest(const DigestFlags& flags) {
  StopSignal signal;
  STOKER_ASSIGN_OR_RETURN(const Source source, OpenSource(flags.source));
  STOKER_ASSIGN_OR_RETURN(const auto loader, Loader::Create(LoaderOptionsFor(source, flags.job)));
  STOKER_ASSIGN_OR_RETURN(const SavedState saved, Begin(flags, *loader));
  STOKER_ASSIGN_OR_RETURN(const auto digest, BeginDigest(saved));
  Tell(flags, "from", *loader);
  const StopSignal::Handler cancel(signal, [&] { loader->Cancel(); });
  const absl::Status read = ReadToEnd(*loader, saved.cursor.position, *digest);
  const absl::Status kept = SaveTo(flags.state, *loader, digest.get());
  if (read.ok()) std::printf("%s\n", digest->Hex().c_str());
  if (!read.ok() && kept.ok()) Tell(flags, "the same command goes on from", *loader);
  STOKER_RETURN_IF_ERROR(Both(signal.exit_code() == 0 ? read : absl::OkStatus(), kept));
  return read.ok() ? 0 : signal.exit_code();
}

}  // namespace

void AddDigest(CLI::App& app, Command& chosen) {
  CLI::App* command = app.add_subcommand("digest", "Print one number that stands for every byte of an epoch");
  const auto flags = std::make_shared<DigestFlags>();
  AddSourceFlags(*command, flags->source);
  AddJobFlags(*command, flags->job);
  command->add_option("--epoch", flags->epoch, "Counted from 0 [0, or that of --state]")
      ->check(WholeNumber())
      ->type_name("N");
  AddStateFlag(*command,
               "Go on where FILE says, if it is there; at the end or on Ctrl-C, save there where this stopped",
               flags->state);
  command->footer(kDigestExamples);
  command->callback([flags, &chosen] { chosen = [flags] { return RunDigest(*flags); }; });
}

}  // namespace stoker
