#include "server/main/reload.h"

#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "google/protobuf/util/message_differencer.h"
#include "server/main/supervisor.h"
#include "server/observe/log.h"
#include "spdlog/spdlog.h"

namespace stoker {
namespace {

using google::protobuf::util::MessageDifferencer;

// The keys that a running server takes up.
const std::set<std::string>& ReloadedKeys() {
  static const auto& keys = *new std::set<std::string>{"access", "datasets", "pipelines", "log", "tls"};
  return keys;
}

bool AreEqual(const absl::StatusOr<v1::ServerConfig>& a, const absl::StatusOr<v1::ServerConfig>& b) {
  return a.ok() && b.ok() ? MessageDifferencer::Equals(*a, *b) : a.status() == b.status();
}

}  // namespace

std::vector<std::string> KeysForNextStart(const v1::ServerConfig& was, const v1::ServerConfig& is) {
  v1::ServerConfig kept = was, wanted = is;
  std::vector<std::string> keys;
  if (was.log().format() != is.log().format()) keys.emplace_back("log.format");
  const google::protobuf::Descriptor& descriptor = *v1::ServerConfig::descriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = descriptor.field(i);
    if (ReloadedKeys().contains(field->name())) continue;
    v1::ServerConfig a, b;
    a.GetReflection()->SwapFields(&a, &kept, {field});
    b.GetReflection()->SwapFields(&b, &wanted, {field});
    if (!MessageDifferencer::Equals(a, b)) keys.push_back(field->name());
  }
  return keys;
}

Reloader::Reloader(Server* server, v1::ServerConfig config, std::function<absl::StatusOr<v1::ServerConfig>()> read)
    : server_(server), read_(std::move(read)), config_(std::move(config)), read_last_(config_), thread_([this] {
        Run();
      }) {}

Reloader::~Reloader() {
  {
    absl::MutexLock lock(&mutex_);
    closing_ = true;
  }
  thread_.join();
}

void Reloader::Reload() {
  absl::MutexLock lock(&mutex_);
  asked_ = busy_ = anyway_ = true;
}

void Reloader::ReloadIfOther() {
  absl::MutexLock lock(&mutex_);
  asked_ = busy_ = true;
}

bool Reloader::busy() const {
  absl::MutexLock lock(&mutex_);
  return busy_;
}

void Reloader::Run() {
  while (true) {
    bool anyway = false;
    {
      absl::MutexLock lock(&mutex_);
      busy_ = asked_;
      const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return asked_ || closing_; };
      mutex_.Await(absl::Condition(&work));
      if (closing_) return;
      asked_ = false;
      anyway = std::exchange(anyway_, false);
    }
    auto fresh = read_();
    if (!anyway && AreEqual(fresh, read_last_)) continue;
    read_last_ = fresh;
    NotifyReloading();
    const absl::Status status = fresh.ok() ? Apply(*std::move(fresh)) : fresh.status();
    server_->NoteReload(status.ok());
    if (status.ok()) {
      spdlog::info("the configuration was read again: new streams use it");
    } else {
      spdlog::error("the configuration was read again and is not used: {}", std::string(status.message()));
    }
    NotifyReady(status.ok() ? "read the configuration again" : "kept its configuration, since the new one is not good");
  }
}

absl::Status Reloader::Apply(v1::ServerConfig fresh) {
  STOKER_RETURN_IF_ERROR(server_->Replace(config_, fresh));
  SetLogLevel(fresh.log().level());
  const std::vector<std::string> later = KeysForNextStart(config_, fresh);
  if (!later.empty()) spdlog::warn("{}: changes take effect when the server starts again", absl::StrJoin(later, ", "));
  // What waits for the next start is told again at the next reload.
  *config_.mutable_access() = fresh.access();
  if (fresh.has_tls()) *config_.mutable_tls() = fresh.tls();
  config_.mutable_datasets()->Swap(fresh.mutable_datasets());
  config_.mutable_pipelines()->swap(*fresh.mutable_pipelines());
  config_.mutable_log()->set_level(fresh.log().level());
  return absl::OkStatus();
}

}  // namespace stoker
