// make-photo-folder DIR [--classes N] [--images N] [--width W] [--height H] [--quality Q]: writes a small ImageFolder
// of painted landscapes, for demonstrations and tests where there are no photographs.

#include <unistd.h>

#include <cstdio>
#include <string>

#include "CLI/CLI.hpp"
#include "tests/support/photo_folder.h"

int main(int argc, char** argv) {
  stoker::PhotoFolderOptions options;
  std::string folder;
  CLI::App app("Writes an ImageFolder of painted landscapes, one ground color a class: DIR/class-03/image-0042.jpg");
  app.add_option("DIR", folder, "The folder; made if it lacks")->required();
  app.add_option("--classes", options.classes, "Class folders")->capture_default_str();
  app.add_option("--images", options.images, "Images in each")->capture_default_str();
  app.add_option("--width", options.size.width, "Pixels")->capture_default_str();
  app.add_option("--height", options.size.height, "Pixels")->capture_default_str();
  app.add_option("--quality", options.quality, "Of the JPEGs, 1 to 100")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const bool terminal = isatty(STDERR_FILENO) != 0;
  const long long total = static_cast<long long>(options.classes) * options.images;
  options.progress = [&](int written) {
    if (terminal) std::fprintf(stderr, "\r%d of %lld images", written, total);
  };
  const absl::Status status = stoker::WritePhotoFolder(folder, options);
  if (terminal) std::fputc('\n', stderr);
  if (!status.ok()) {
    std::fprintf(stderr, "make-photo-folder: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  std::printf("%s: %d classes of %d images\n", folder.c_str(), options.classes, options.images);
}
