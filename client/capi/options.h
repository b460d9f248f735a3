#ifndef STOKER_CLIENT_CAPI_OPTIONS_H_
#define STOKER_CLIENT_CAPI_OPTIONS_H_

#include "absl/status/statusor.h"
#include "client/device/registry/open_device.h"
#include "client/fleet/client.h"
#include "client/loader/loader.h"

namespace stoker {

// Parses the JSON options of stoker.h. Pure functions. InvalidArgument names the key: "options.batch_sice: unknown key;
// did you mean 'batch_size'?".

// The options of stoker_list.
absl::StatusOr<Client::Options> ParseClientOptions(const char* text);

// The options of stoker_loader_create. The caller makes the client and the device, and puts them into `loader`.
struct CreateOptions {
  Client::Options client;
  LoaderOptions loader;
  std::string device = "cpu";
  DeviceOptions device_options;
};
absl::StatusOr<CreateOptions> ParseCreateOptions(const char* text);

}  // namespace stoker

#endif  // STOKER_CLIENT_CAPI_OPTIONS_H_
