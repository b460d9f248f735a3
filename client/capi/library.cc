#include <cstdlib>
#include <utility>

#include "client/capi/boundary.h"
#include "client/capi/documents.h"
#include "client/capi/options.h"
#include "client/capi/stoker.h"
#include "client/device/registry/open_device.h"
#include "client/fleet/client.h"
#include "common/identity/draws.h"
#include "common/status_macros.h"

using stoker::Call;
using stoker::Client;

uint32_t stoker_abi_version(void) { return STOKER_ABI_VERSION; }

const char* stoker_version(void) { return STOKER_VERSION; }

const char* stoker_error(void) { return stoker::LastError(); }

stoker_code stoker_check_device(const char* device) {
  return Call([&]() -> absl::Status {
    if (device == nullptr) return stoker::NullPointer("device");
    return stoker::OpenDevice(device).status();
  });
}

void stoker_draws_fill(uint64_t key, uint64_t position, uint64_t word, uint32_t* words, size_t count) {
  stoker::Draws(key, position, word).Fill({words, count});
}

void stoker_free(char* text) { std::free(text); }

stoker_code stoker_list(const char* options, char** json) {
  return Call([&]() -> absl::Status {
    if (json == nullptr) return stoker::NullPointer("json");
    STOKER_ASSIGN_OR_RETURN(Client::Options client_options, stoker::ParseClientOptions(options));
    STOKER_RETURN_IF_ERROR(stoker::BeginConnecting());
    STOKER_ASSIGN_OR_RETURN(const auto client, Client::Create(std::move(client_options)));
    STOKER_ASSIGN_OR_RETURN(const auto list, client->ListDatasets());
    *json = stoker::CopyOf(stoker::ListDocument(list));
    return absl::OkStatus();
  });
}

stoker_code stoker_obstacles(const char* options, char** json) {
  return Call([&]() -> absl::Status {
    if (json == nullptr) return stoker::NullPointer("json");
    STOKER_ASSIGN_OR_RETURN(Client::Options client_options, stoker::ParseClientOptions(options));
    STOKER_ASSIGN_OR_RETURN(const auto client, Client::Create(std::move(client_options)));
    *json = stoker::CopyOf(stoker::NamesDocument(client->Obstacles()));
    return absl::OkStatus();
  });
}
