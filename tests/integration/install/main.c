#include <string.h>

#include "client/capi/stoker.h"

/* Fails unless the installed header and library agree: a loader without servers says so. */
int main(void) {
  stoker_loader* loader;
  return stoker_abi_version() == STOKER_ABI_VERSION &&
                 stoker_loader_create("{\"batch_size\": 1}", &loader) == STOKER_INVALID_ARGUMENT &&
                 strstr(stoker_error(), "servers") != NULL
             ? 0
             : 1;
}
