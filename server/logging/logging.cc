#include "server/logging/logging.h"

#include <chrono>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "server/logging/line_format.h"
#include "spdlog/async.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace millrace::logging {
namespace {

constexpr size_t kQueuedLines = 8192;
// Lines of this logger are rendered by Log on the caller's thread; those of any other are plain
// text that must be rendered here.
constexpr char kRendered[] = "millrace";

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

std::string_view LevelName(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
      return "trace";
    case spdlog::level::debug:
      return "debug";
    case spdlog::level::info:
      return "info";
    case spdlog::level::warn:
      return "warning";
    default:
      return "error";
  }
}

// UTC with milliseconds, as RFC 3339.
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

// Set by Init before other threads log and never changed while they do, hence no lock.
struct State {
  LogFormat format = LogFormat::kText;
  std::shared_ptr<spdlog::logger> logger;  // shared: spdlog's registry and its queue hold it too
};
State& GetState() {
  static State state;
  return state;
}

std::shared_ptr<spdlog::logger> MakeLogger(const char* name, const Options& options,
                                           const spdlog::sink_ptr& sink) {
  std::shared_ptr<spdlog::logger> logger;
  if (options.async) {
    logger = std::make_shared<spdlog::async_logger>(name, sink, spdlog::thread_pool(),
                                                    spdlog::async_overflow_policy::overrun_oldest);
  } else {
    logger = std::make_shared<spdlog::logger>(name, sink);
  }
  logger->set_level(ToSpdlog(options.level));
  return logger;
}

}  // namespace

void Init(const Options& options) {
  if (options.async) spdlog::init_thread_pool(kQueuedLines, 1);
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  sink->set_formatter(std::make_unique<LineFormatter>(options.format));
  GetState() = {options.format, MakeLogger(kRendered, options, sink)};
  spdlog::set_default_logger(MakeLogger("", options, sink));
}

void Shutdown() {
  State& state = GetState();
  if (state.logger) state.logger->set_level(spdlog::level::off);
  spdlog::shutdown();
}

bool Enabled(LogLevel level) {
  const State& state = GetState();
  return state.logger ? state.logger->should_log(ToSpdlog(level))
                      : spdlog::should_log(ToSpdlog(level));
}

void Log(LogLevel level, std::string_view message, Fields fields) {
  if (!Enabled(level)) return;
  const State& state = GetState();
  const std::string line =
      state.format == LogFormat::kJson ? RenderJson(message, fields) : RenderText(message, fields);
  spdlog::logger* logger = state.logger ? state.logger.get() : spdlog::default_logger_raw();
  if (logger != nullptr)
    logger->log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace millrace::logging
