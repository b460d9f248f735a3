#ifndef STOKER_CLIENT_CAPI_OPTIONS_H_
#define STOKER_CLIENT_CAPI_OPTIONS_H_

#include "absl/status/statusor.h"
#include "client/device/registry/open_device.h"
#include "client/fleet/client.h"
#include "client/loader/loader.h"

namespace stoker {

// The JSON options of stoker.h. Pure functions. InvalidArgument names the key: "options.batch_sice: unknown key; did
// you mean 'batch_size'?".

// Of stoker_list.
absl::StatusOr<Client::Options> ParseClientOptions(const char* text);

// Of stoker_loader_create. In `loader`, client and device are for the caller to fill in from the others.
struct CreateOptions {
  Client::Options client;
  LoaderOptions loader;
  std::string device = "cpu";
  DeviceOptions device_options;
};
absl::StatusOr<CreateOptions> ParseCreateOptions(const char* text);

}  // namespace stoker

#endif  // STOKER_CLIENT_CAPI_OPTIONS_H_
