// stoker: the client's tool. Looks at what servers offer, measures them, and proves that they agree.

#include <cstdio>
#include <string>

#include "client/cli/commands.h"
#include "client/cli/printable.h"
#include "client/loader/loader.h"

namespace stoker {
namespace {

constexpr char kExamples[] = R"(Examples:
  stoker list --servers cpu1:7077
      What is there.
  stoker describe --servers cpu1:7077 --dataset imagenet --pipeline train.yaml
      Would this pipeline work, and what would come out?
  stoker preview --servers cpu1:7077 --pipeline train.yaml --output sheet.png
      Look at it.
  stoker bench --servers cpu1:7077,cpu2:7077 --batch-size 256
      How fast is it, and what holds it up?
  stoker digest --servers cpu1:7077,cpu2:7077 --epoch 3
      One number for every byte of an epoch.

STOKER_SERVERS stands in for --servers. stoker COMMAND --help says more.)";

int Main(int argc, char** argv) {
  TuneAllocator();  // First, for it holds for memory that is taken later only.
  CLI::App app("Reads training samples from stokerd servers.", "stoker");
  app.footer(kExamples);
  app.set_version_flag("--version", "stoker " STOKER_VERSION);
  app.require_subcommand(1);
  Command command;
  AddList(app, command);
  AddDescribe(app, command);
  AddPreview(app, command);
  AddBench(app, command);
  AddDigest(app, command);
  CLI11_PARSE(app, argc, argv);

  const absl::StatusOr<int> exit_code = command();
  if (exit_code.ok()) return *exit_code;
  std::fprintf(stderr, "stoker: %s\n", Printable(std::string(exit_code.status().message())).c_str());
  return 1;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
