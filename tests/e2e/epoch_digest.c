/* epoch-digest ADDRESS BATCH_SIZE: prints the digest of the first epoch of the only dataset at ADDRESS, by nothing but
 * C and libstoker.so. Ends as programs do that forget to clean up: the loader lives. */

#include <stdio.h>
#include <stdlib.h>

#include "client/capi/stoker.h"

static void Check(stoker_code code, const char* what) {
  if (code == STOKER_OK) return;
  fprintf(stderr, "%s: code %d: %s\n", what, (int)code, stoker_error());
  exit(1);
}

int main(int argc, char** argv) {
  char options[1024];
  char *hex, *description;
  stoker_loader* loader;
  stoker_batch* batch;
  stoker_digest* digest = stoker_digest_create();
  if (argc != 3 || stoker_abi_version() != STOKER_ABI_VERSION) return 2;
  snprintf(options, sizeof options, "{\"servers\": [\"%s\"], \"batch_size\": %s, \"last_batch\": \"partial\"}", argv[1],
           argv[2]);
  Check(stoker_loader_create(options, &loader), "create");
  Check(stoker_loader_describe(loader, &description), "describe");
  fprintf(stderr, "%s\n", description);
  stoker_free(description);
  for (;;) {
    Check(stoker_loader_next(loader, -1, &batch), "next");
    if (batch == NULL) break;
    Check(stoker_digest_add(digest, batch), "add");
    stoker_batch_release(batch);
  }
  Check(stoker_digest_hex(digest, &hex), "hex");
  printf("%s\n", hex);
  stoker_free(hex);
  stoker_digest_destroy(digest);
  return 0;
}
