#include "mps_runtime/base/log_sink.h"

#include <atomic>
#include <cstdio>

namespace millrace {
namespace {

std::atomic<LogSink> log_sink{nullptr};

}  // namespace

void SetLogSink(LogSink sink) { log_sink.store(sink); }

void SendToLog(LogSeverity severity, std::string_view message) {
  if (const LogSink sink = log_sink.load()) return sink(severity, message);
  std::fprintf(stderr, "millrace: %.*s\n", static_cast<int>(message.size()), message.data());
}

}  // namespace millrace
