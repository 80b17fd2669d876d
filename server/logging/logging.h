#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <variant>

#include "server/config/server_config.h"

namespace millrace::logging {

struct Options {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
  // A queue and a thread of its own, so that a slow reader of stderr never delays a request; when
  // the queue is full the oldest lines go.
  bool async = true;
};

// Sends log lines to stderr, also those of spdlog's default logger. Main thread, before other
// threads log. Before it, lines go to stderr as spdlog's own text.
void Init(const Options& options);
// Writes out what is queued. Later lines are dropped.
void Shutdown();

using Value = std::variant<bool, int64_t, uint64_t, double, std::string_view>;

// A key and its value on a line. Borrows its strings for the call.
struct Field {
  std::string_view key;
  Value value;

  Field(std::string_view key, bool value) : key(key), value(value) {}
  Field(std::string_view key, double value) : key(key), value(value) {}
  template <std::signed_integral Number>
  Field(std::string_view key, Number value) : key(key), value(int64_t{value}) {}
  template <std::unsigned_integral Number>
  Field(std::string_view key, Number value) : key(key), value(uint64_t{value}) {}
  // std::string, std::string_view and Abseil's own.
  template <class Text>
  requires requires(const Text& text) { std::string_view(text.data(), text.size()); }
  Field(std::string_view key, const Text& value)
      : key(key), value(std::string_view(value.data(), value.size())) {}
  Field(std::string_view key, const char* value) : key(key), value(std::string_view(value)) {}
};
using Fields = std::initializer_list<Field>;

bool Enabled(LogLevel level);
// One line: time, level, message, then the fields as key=value or as members of a JSON object. Text
// of others in message or values cannot break out of its line. Thread-safe; waits for nothing when
// async.
void Log(LogLevel level, std::string_view message, Fields fields = {});

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
