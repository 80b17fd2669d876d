#include "server/logging/logging.h"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "mps_runtime/base/log_sink.h"
#include "server/logging/line_format.h"
#include "server/logging/line_writer.h"
#include "spdlog/sinks/sink.h"
#include "spdlog/spdlog.h"

namespace millrace::logging {
namespace {

// The time that Shutdown waits for a reader that reads nothing.
constexpr std::chrono::milliseconds kPatience{1000};
// Log renders the lines of this logger on the caller's thread; those of any other logger are plain
// text that has to be rendered here.
constexpr char kRendered[] = "millrace";

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  static constexpr spdlog::level::level_enum kLevels[] = {
      spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
      spdlog::level::warn,  spdlog::level::err,   spdlog::level::off};
  return kLevels[static_cast<size_t>(level)];
}

std::string_view LevelName(spdlog::level::level_enum level) {
  static constexpr std::string_view kNames[] = {"trace", "debug", "info", "warning"};
  return static_cast<size_t>(level) < std::size(kNames) ? kNames[level] : "error";
}

// Appends the time in UTC with milliseconds, as RFC 3339.
void AppendTime(spdlog::log_clock::time_point time, spdlog::memory_buf_t& out) {
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
  const std::time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count();
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[40];
  const size_t length = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
  const int milliseconds = static_cast<int>(since_epoch.count() % 1000);
  const char fraction[] = {'.', static_cast<char>('0' + milliseconds / 100),
                           static_cast<char>('0' + milliseconds / 10 % 10),
                           static_cast<char>('0' + milliseconds % 10), 'Z'};
  out.append(text, text + length);
  out.append(fraction, fraction + sizeof(fraction));
}

void Append(std::string_view text, spdlog::memory_buf_t& out) {
  out.append(text.data(), text.data() + text.size());
}

class LineFormatter final : public spdlog::formatter {
 public:
  explicit LineFormatter(LogFormat format) : format_(format) {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const std::string_view payload(message.payload.data(), message.payload.size());
    const bool rendered =
        std::string_view(message.logger_name.data(), message.logger_name.size()) == kRendered;
    if (format_ == LogFormat::kJson) {
      Append("{\"time\":\"", out);
      AppendTime(message.time, out);
      Append("\",\"level\":\"", out);
      Append(LevelName(message.level), out);
      Append("\",", out);
      Append(rendered ? payload : RenderJson(payload, {}), out);
      Append("}\n", out);
    } else {
      AppendTime(message.time, out);
      Append(" ", out);
      Append(LevelName(message.level), out);
      Append(" ", out);
      Append(rendered ? payload : RenderText(payload, {}), out);
      Append("\n", out);
    }
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<LineFormatter>(format_);
  }

 private:
  const LogFormat format_;
};

// Hands lines to the writer as they come. It keeps nothing, so it needs no lock.
class WriterSink final : public spdlog::sinks::sink {
 public:
  WriterSink(LineWriter& writer, LogFormat format) : writer_(writer), formatter_(format) {}

  void log(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_.format(message, line);
    writer_.Write(std::string(line.data(), line.size()));
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  LineWriter& writer_;
  LineFormatter formatter_;
};

// Set by Init before other threads log and never changed while they do, so it needs no lock.
struct State {
  LogFormat format = LogFormat::kText;
  std::unique_ptr<LineWriter> writer;
  std::shared_ptr<spdlog::logger> logger;  // shared, as spdlog's interface requires
  std::shared_ptr<spdlog::logger> plain;   // spdlog's default logger
};
State& GetState() {
  static auto* const state = new State;  // never destroyed: threads may log until the very end
  return *state;
}

std::shared_ptr<spdlog::logger> MakeLogger(const char* name, LogLevel level,
                                           const spdlog::sink_ptr& sink) {
  auto logger = std::make_shared<spdlog::logger>(name, sink);
  logger->set_level(ToSpdlog(level));
  // By default the logger prints its own errors, such as std::bad_alloc, between the lines.
  logger->set_error_handler([](const std::string&) {});
  return logger;
}

// Renders a line of the log that passed no logger.
std::string Line(LogFormat format, LogLevel level, std::string_view message, Fields fields) {
  const std::string text =
      format == LogFormat::kJson ? RenderJson(message, fields) : RenderText(message, fields);
  spdlog::memory_buf_t line;
  LineFormatter(format).format(
      spdlog::details::log_msg(kRendered, ToSpdlog(level), {text.data(), text.size()}), line);
  return std::string(line.data(), line.size());
}

}  // namespace

void Init(const Options& options) {
  State& state = GetState();
  const LogFormat format = options.format;
  auto writer =
      std::make_unique<LineWriter>(LineWriter::Options{.describe_lost = [format](uint64_t lost) {
        return Line(format, LogLevel::kWarning, "log lines lost: nobody read them in time",
                    {{"lines", lost}});
      }});
  const auto sink = std::make_shared<WriterSink>(*writer, format);
  auto logger = MakeLogger(kRendered, options.level, sink);
  auto plain = MakeLogger("", options.level, sink);
  spdlog::set_default_logger(plain);
  state = {format, std::move(writer), std::move(logger), std::move(plain)};
  SetLogSink([](LogSeverity severity, std::string_view message) {
    const LogLevel level = severity == LogSeverity::kInfo      ? LogLevel::kInfo
                           : severity == LogSeverity::kWarning ? LogLevel::kWarning
                                                               : LogLevel::kError;
    Log(level, message);
    if (severity == LogSeverity::kFatal) Shutdown();
  });
}

void LastWords(std::string_view error) {
  const State& state = GetState();
  const std::string line = state.format == LogFormat::kJson
                               ? Line(LogFormat::kJson, LogLevel::kError, error, {})
                               : "millrace: " + std::string(error) + "\n";
  if (state.writer != nullptr) return state.writer->Write(line);
  std::fputs(line.c_str(), stderr);
}

void Shutdown() {
  const State& state = GetState();
  for (const auto& logger : {state.logger, state.plain}) {
    if (logger != nullptr) logger->set_level(spdlog::level::off);
  }
  if (state.writer != nullptr) state.writer->Close(kPatience);
}

void SetLevel(LogLevel level) {
  const State& state = GetState();
  for (const auto& logger : {state.logger, state.plain}) {
    if (logger != nullptr) logger->set_level(ToSpdlog(level));
  }
}

bool Enabled(LogLevel level) {
  const State& state = GetState();
  return state.logger ? state.logger->should_log(ToSpdlog(level))
                      : spdlog::should_log(ToSpdlog(level));
}

LogLevel Level() {
  for (const LogLevel level : {LogLevel::kTrace, LogLevel::kDebug, LogLevel::kInfo,
                               LogLevel::kWarning, LogLevel::kError}) {
    if (Enabled(level)) return level;
  }
  return LogLevel::kOff;
}

void Log(LogLevel level, std::string_view message, Fields fields) noexcept try {
  if (!Enabled(level)) return;
  const State& state = GetState();
  const std::string line =
      state.format == LogFormat::kJson ? RenderJson(message, fields) : RenderText(message, fields);
  spdlog::logger* logger = state.logger ? state.logger.get() : spdlog::default_logger_raw();
  if (logger != nullptr)
    logger->log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
} catch (const std::exception&) {  // there is no memory for the line
}

}  // namespace millrace::logging
