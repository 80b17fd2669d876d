#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <variant>

#include "server/logging/log_level.h"

namespace millrace::logging {

struct Options {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
};

// Sends log lines to stderr, also those of spdlog's default logger and of models and runtime
// (mps_runtime/base/log_sink.h). Lines wait in a queue with a thread of its own, so that a slow
// reader of stderr never delays a request; when the queue is full, the oldest lines are dropped and
// their number is logged. Main thread, before other threads log. Until then, lines go to stderr as
// spdlog's own text.
void Init(const Options& options);
// Logs why the process ends, whatever the level: "millrace: <error>" in text, an object in JSON.
void LastWords(std::string_view error);
// Writes out the queue, which takes at most a second when stderr is not read. Later lines are
// dropped. Any thread.
void Shutdown();

using Value = std::variant<bool, int64_t, uint64_t, double, std::string_view>;

// A key and its value on a line. It borrows its strings for the call.
struct Field {
  std::string_view key;
  Value value;

  Field(std::string_view key, bool value) : key(key), value(value) {}
  Field(std::string_view key, double value) : key(key), value(value) {}
  template <std::signed_integral Number>
  Field(std::string_view key, Number value) : key(key), value(int64_t{value}) {}
  template <std::unsigned_integral Number>
  Field(std::string_view key, Number value) : key(key), value(uint64_t{value}) {}
  // Takes std::string, std::string_view and Abseil's string_view.
  template <class Text>
  requires requires(const Text& text) { std::string_view(text.data(), text.size()); }
  Field(std::string_view key, const Text& value)
      : key(key), value(std::string_view(value.data(), value.size())) {}
  Field(std::string_view key, const char* value) : key(key), value(std::string_view(value)) {}
};
using Fields = std::initializer_list<Field>;

bool Enabled(LogLevel level);
// Returns the least level of which lines are logged.
LogLevel Level();
// Changes the level from the next line on. Any thread, between Init and Shutdown.
void SetLevel(LogLevel level);
// Logs one line: time, level, message, then the fields as key=value or as members of a JSON object.
// Foreign text in the message or values cannot break out of its line. Thread-safe and never waits.
// A line for which there is no memory is dropped.
void Log(LogLevel level, std::string_view message, Fields fields = {}) noexcept;

inline void Debug(std::string_view message, Fields fields = {}) {
  Log(LogLevel::kDebug, message, fields);
}
inline void Info(std::string_view message, Fields fields = {}) {
  Log(LogLevel::kInfo, message, fields);
}
inline void Warning(std::string_view message, Fields fields = {}) {
  Log(LogLevel::kWarning, message, fields);
}
inline void Error(std::string_view message, Fields fields = {}) {
  Log(LogLevel::kError, message, fields);
}

}  // namespace millrace::logging
