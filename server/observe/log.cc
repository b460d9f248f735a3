#include "server/observe/log.h"

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"
#include "server/observe/line_writer.h"
#include "spdlog/pattern_formatter.h"
#include "spdlog/sinks/base_sink.h"
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

// Hands lines to a LineWriter.
class StderrSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit StderrSink(std::unique_ptr<spdlog::formatter> formatter)
      : base_sink(std::move(formatter)), writer_(STDERR_FILENO, [this](uint64_t lines) {
          const std::string text = fmt::format("{} lines of log were dropped: nobody read stderr", lines);
          return Line({"stokerd", spdlog::level::warn, text});
        }) {}

  bool Flush(absl::Duration at_most) { return writer_.Flush(at_most); }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override { writer_.Write(Line(message)); }
  void flush_() override {}

  std::string Line(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t line;
    // A formatter keeps the time that it formatted last, so each thread takes one of its own.
    formatter_->clone()->format(message, line);
    return fmt::to_string(line);
  }

  LineWriter writer_;  // Last: its thread ends before the formatter goes.
};

// Keeps problems for whoever asks.
class ProblemSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  ProblemSink() { set_level(spdlog::level::warn); }

  std::vector<LoggedProblem> Recent() {
    std::lock_guard<std::mutex> lock(mutex_);
    const absl::Time begin = absl::Now() - absl::Hours(1);
    while (!problems_.empty() && problems_.back().time < begin) problems_.pop_back();
    return {problems_.begin(), problems_.end()};
  }

 private:
  static constexpr size_t kMost = 200;

  void sink_it_(const spdlog::details::log_msg& message) override {
    if (problems_.size() == kMost) problems_.pop_back();
    problems_.push_front(
        {absl::FromChrono(message.time), message.level >= spdlog::level::err, std::string(Capped(message))});
  }
  void flush_() override {}

  std::deque<LoggedProblem> problems_;  // the newest first
};

std::shared_ptr<ProblemSink>& Problems() {
  static std::shared_ptr<ProblemSink> sink;
  return sink;
}

std::shared_ptr<StderrSink>& Sink() {
  static std::shared_ptr<StderrSink> sink;
  return sink;
}

}  // namespace

void SetUpLog(const v1::LogConfig& config) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  if (config.format() == v1::LOG_FORMAT_JSON) {
    formatter->add_flag<JsonMessage>('*').set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%f%z","level":"%l","message":%*})");
  } else {
    formatter->add_flag<TextMessage>('*').set_pattern("%Y-%m-%d %H:%M:%S.%e %L %*");
  }
  Sink() = std::make_shared<StderrSink>(std::move(formatter));
  Problems() = std::make_shared<ProblemSink>();
  auto logger = std::make_shared<spdlog::logger>("stokerd", spdlog::sinks_init_list{Sink(), Problems()});
  logger->set_level(Level(config.level()));
  spdlog::set_default_logger(std::move(logger));
}

std::vector<LoggedProblem> RecentProblems() {
  return Problems() == nullptr ? std::vector<LoggedProblem>() : Problems()->Recent();
}

void FlushLog() {
  if (Sink() != nullptr) Sink()->Flush(LineWriter::kLastWords);
}

void SetLogLevel(v1::LogLevel level) { spdlog::default_logger()->set_level(Level(level)); }

}  // namespace stoker
