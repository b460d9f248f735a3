// stoker: the client's tool. It shows what servers offer, measures them, and proves that they agree.

#include <cstdio>
#include <string>

#include "client/cli/commands.h"
#include "client/cli/printable.h"
#include "client/loader/loader.h"

namespace stoker {
namespace {

constexpr char kExamples[] = R"(Examples:
  stoker list --servers cpu1:7077
      See which datasets and pipelines there are.
  stoker status --servers cpu1:7077,cpu2:7077
      See how busy they are, whether clients wait, and who is slow.
  stoker describe --servers cpu1:7077 --dataset imagenet --pipeline train.yaml
      Check whether this pipeline works, and see what comes out.
  stoker preview --servers cpu1:7077 --pipeline train.yaml --output sheet.png
      Look at the first samples as a picture.
  stoker bench --servers cpu1:7077,cpu2:7077 --batch-size 256
      Measure how fast it is, and what holds it up.
  stoker digest --servers cpu1:7077,cpu2:7077 --epoch 3
      Compute one number that stands for every byte of an epoch.

The environment variable STOKER_SERVERS may replace --servers. stoker COMMAND --help says more.)";

int Main(int argc, char** argv) {
  TuneAllocator();  // Must come first, since it concerns only memory that is allocated later.
  CLI::App app("Reads training samples from stokerd servers.", "stoker");
  app.footer(kExamples);
  app.set_version_flag("--version", "stoker " STOKER_VERSION);
  app.require_subcommand(1);
  Command command;
  AddList(app, command);
  AddStatus(app, command);
  AddDescribe(app, command);
  AddPreview(app, command);
  AddBench(app, command);
  AddDigest(app, command);
  AddCheck(app, command);
  CLI11_PARSE(app, argc, argv);

  const absl::StatusOr<int> exit_code = command();
  if (exit_code.ok()) return *exit_code;
  std::fprintf(stderr, "stoker: %s\n", Printable(std::string(exit_code.status().message())).c_str());
  return 1;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
