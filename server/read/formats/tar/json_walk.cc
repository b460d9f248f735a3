#include "server/read/formats/tar/json_walk.h"

#include <limits>
#include <variant>

namespace stoker {

bool JsonWalk::Walk(std::string_view document) {
  nlohmann::json_sax<nlohmann::json>* const sax = this;
  return nlohmann::json::sax_parse(document.begin(), document.end(), sax);
}

bool JsonWalk::string(string_t& text) {
  if (IsThere()) OnText(text);
  return true;
}

bool JsonWalk::number_unsigned(number_unsigned_t value) {
  const bool fits = value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return Take({fits, fits ? static_cast<int64_t>(value) : 0, static_cast<double>(value)});
}

bool JsonWalk::key(string_t& key) {
  if (open_there_ > 0 || on_path_.size() != depth_) return true;
  const auto* step = std::get_if<std::string>(&path_[depth_ - 1]);
  key_leads_on_ = step != nullptr && *step == key;
  if (!key_leads_on_) return true;
  Container& container = on_path_.back();
  if (container.leads_on) {
    Rewind(container.mark);
    is_broken_ = container.was_broken;
  }
  container.leads_on = true;
  container.mark = Mark();
  container.was_broken = is_broken_;
  return true;
}

bool JsonWalk::Take(const JsonNumber& number) {
  if (IsThere()) OnNumber(number);
  return true;
}

bool JsonWalk::Other() {
  if (IsThere()) OnOther();
  return true;
}

bool JsonWalk::Open(bool is_list) {
  const bool is_on_path = open_there_ == 0 && IsOnPath();
  if (open_there_ > 0 || (is_on_path && depth_ == path_.size())) {
    ++open_there_;
    is_list ? OnList() : OnOther();
  } else if (is_on_path) {
    const bool leads_on = is_list && std::holds_alternative<EveryElement>(path_[depth_]);
    on_path_.push_back({.is_list = is_list, .leads_on = leads_on});
  }
  ++depth_;
  return true;
}

bool JsonWalk::Close(bool is_list) {
  if (open_there_ > 0) {
    if (is_list) OnListEnd();
    --open_there_;
  } else if (on_path_.size() == depth_) {
    if (!on_path_.back().leads_on) Break();
    on_path_.pop_back();
  }
  --depth_;
  return true;
}

// Whether the value that begins here lies on the path. It must be asked once of each.
bool JsonWalk::IsOnPath() {
  if (on_path_.size() != depth_) return false;
  if (depth_ == 0) return true;
  Container& container = on_path_.back();
  if (!container.is_list) return key_leads_on_;
  const uint64_t place = container.next++;
  const auto& step = path_[depth_ - 1];
  if (std::holds_alternative<EveryElement>(step)) return true;
  const auto* wanted = std::get_if<uint64_t>(&step);
  if (wanted == nullptr || *wanted != place) return false;
  return container.leads_on = true;
}

// Whether a value that holds no others is at the path, or in what is there.
bool JsonWalk::IsThere() {
  if (open_there_ > 0) return true;
  if (!IsOnPath()) return false;
  if (depth_ == path_.size()) return true;
  Break();
  return false;
}

}  // namespace stoker
