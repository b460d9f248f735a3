#include "server/observe/log.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"
#include "spdlog/pattern_formatter.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace stoker {
namespace {

constexpr size_t kMaxMessageBytes = 4096;

std::string_view Capped(const spdlog::details::log_msg& message) {
  return {message.payload.data(), std::min(message.payload.size(), kMaxMessageBytes)};
}

// Prints the pattern's %* as text: the message with control bytes as \xNN.
class TextMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    for (char c : Capped(message)) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && byte != 0x7f)
        out.push_back(c);
      else
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    }
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<TextMessage>(); }
};

// Prints the pattern's %* as a JSON string: the message in quotes, with invalid UTF-8 replaced.
class JsonMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string text =
        nlohmann::json(Capped(message)).dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<JsonMessage>(); }
};

spdlog::level::level_enum Level(v1::LogLevel level) {
  switch (level) {
    case v1::LOG_LEVEL_DEBUG: return spdlog::level::debug;
    case v1::LOG_LEVEL_WARNING: return spdlog::level::warn;
    case v1::LOG_LEVEL_ERROR: return spdlog::level::err;
    default: return spdlog::level::info;
  }
}

}  // namespace

void SetUpLog(const v1::LogConfig& config) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  if (config.format() == v1::LOG_FORMAT_JSON) {
    formatter->add_flag<JsonMessage>('*').set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%f%z","level":"%l","message":%*})");
  } else {
    formatter->add_flag<TextMessage>('*').set_pattern("%Y-%m-%d %H:%M:%S.%e %L %*");
  }
  auto logger = std::make_shared<spdlog::logger>("stokerd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(std::move(formatter));
  logger->set_level(Level(config.level()));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace stoker
