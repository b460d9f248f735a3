#include "client/loader/loader.h"

#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "client/capi/boundary.h"
#include "client/capi/documents.h"
#include "client/capi/handles.h"
#include "client/capi/options.h"
#include "client/capi/stoker.h"
#include "client/device/registry/open_device.h"
#include "common/status_macros.h"

using stoker::Call;
using stoker::CallOn;
using stoker::CopyOf;
using stoker::NullPointer;

stoker_code stoker_loader_create(const char* options, stoker_loader** loader) {
  return Call([&]() -> absl::Status {
    if (loader == nullptr) return NullPointer("loader");
    STOKER_ASSIGN_OR_RETURN(stoker::CreateOptions create, stoker::ParseCreateOptions(options));
    STOKER_RETURN_IF_ERROR(stoker::BeginConnecting());
    STOKER_ASSIGN_OR_RETURN(create.loader.device, stoker::OpenDevice(create.device, create.device_options));
    STOKER_ASSIGN_OR_RETURN(create.loader.client, stoker::Client::Create(std::move(create.client)));
    STOKER_ASSIGN_OR_RETURN(auto made, stoker::Loader::Create(std::move(create.loader)));
    auto object = std::make_shared<stoker_loader>();
    object->loader = std::move(made);
    *loader = stoker::NewHandle(std::move(object));
    return absl::OkStatus();
  });
}

void stoker_loader_destroy(stoker_loader* loader) { stoker::Release(loader); }

stoker_code stoker_loader_describe(const stoker_loader* loader, char** json) {
  return CallOn(loader, [&](const stoker_loader& self) -> absl::Status {
    if (json == nullptr) return NullPointer("json");
    *json = CopyOf(stoker::DescribeDocument(*self.loader));
    return absl::OkStatus();
  });
}

stoker_code stoker_loader_next(stoker_loader* loader, double timeout_seconds, stoker_batch** batch) {
  return CallOn(loader, [&](stoker_loader& self) -> absl::Status {
    if (batch == nullptr) return NullPointer("batch");
    self.waiting = false;
    if (timeout_seconds >= 0) {
      const absl::Status status = self.loader->Await(absl::Seconds(timeout_seconds));
      self.waiting = absl::IsDeadlineExceeded(status);
      if (self.waiting) *batch = nullptr;
      STOKER_RETURN_IF_ERROR(status);
    }
    STOKER_ASSIGN_OR_RETURN(auto next, self.loader->Next());
    if (!next.has_value()) {
      *batch = nullptr;
      return absl::OkStatus();
    }
    auto object = std::make_shared<stoker_batch>();
    object->batch = *std::move(next);
    *batch = stoker::NewHandle(std::move(object));
    return absl::OkStatus();
  });
}

int stoker_loader_waiting(const stoker_loader* loader) {
  int waiting = 0;
  (void)CallOn(loader, [&](const stoker_loader& self) {
    waiting = self.waiting ? 1 : 0;
    return absl::OkStatus();
  });
  return waiting;
}

stoker_code stoker_loader_set_epoch(stoker_loader* loader, uint64_t epoch) {
  return CallOn(loader, [&](stoker_loader& self) {
    self.loader->SetEpoch(epoch);
    return absl::OkStatus();
  });
}

void stoker_loader_cancel(stoker_loader* loader) {
  (void)CallOn(loader, [](stoker_loader& self) {
    self.loader->Cancel();
    return absl::OkStatus();
  });
}

stoker_code stoker_loader_state(const stoker_loader* loader, char** json) {
  return CallOn(loader, [&](const stoker_loader& self) -> absl::Status {
    if (json == nullptr) return NullPointer("json");
    *json = CopyOf(self.loader->State());
    return absl::OkStatus();
  });
}

stoker_code stoker_loader_restore(stoker_loader* loader, const char* state, int accept_other_pixels) {
  return CallOn(loader, [&](stoker_loader& self) -> absl::Status {
    if (state == nullptr) return absl::InvalidArgumentError("state: a null pointer in place of JSON");
    return self.loader->Restore(state, accept_other_pixels != 0);
  });
}

stoker_code stoker_loader_classes(const stoker_loader* loader, char** json) {
  return CallOn(loader, [&](const stoker_loader& self) -> absl::Status {
    if (json == nullptr) return NullPointer("json");
    STOKER_ASSIGN_OR_RETURN(const auto classes, self.loader->index().Classes());
    *json = CopyOf(stoker::NamesDocument(classes));
    return absl::OkStatus();
  });
}

stoker_code stoker_loader_labels(const stoker_loader* loader, char** json) {
  return CallOn(loader, [&](const stoker_loader& self) -> absl::Status {
    if (json == nullptr) return NullPointer("json");
    STOKER_ASSIGN_OR_RETURN(const auto labels, self.loader->index().Labels());
    *json = CopyOf(stoker::LabelsDocument(labels));
    return absl::OkStatus();
  });
}

stoker_code stoker_loader_names(const stoker_loader* loader, const uint64_t* sample_ids, uint64_t count, char** json) {
  return CallOn(loader, [&](const stoker_loader& self) -> absl::Status {
    if (sample_ids == nullptr && count > 0) return NullPointer("sample_ids");
    if (json == nullptr) return NullPointer("json");
    STOKER_ASSIGN_OR_RETURN(const auto names, self.loader->index().Names({sample_ids, sample_ids + count}));
    *json = CopyOf(stoker::NamesDocument(names));
    return absl::OkStatus();
  });
}

stoker_code stoker_loader_stats(const stoker_loader* loader, char** json) {
  return CallOn(loader, [&](const stoker_loader& self) -> absl::Status {
    if (json == nullptr) return NullPointer("json");
    *json = CopyOf(stoker::StatsDocument(self.loader->stats()));
    return absl::OkStatus();
  });
}
