#pragma once

#include <cstdint>
#include <string_view>

namespace millrace {

// After a fatal line the process aborts, so the sink returns only when that line has been written.
enum class LogSeverity : uint8_t { kInfo, kWarning, kError, kFatal };

// Takes a line without its line break. Called on any thread; must not throw.
using LogSink = void (*)(LogSeverity severity, std::string_view message);

// Sets the sink for what models and the runtime cannot report to a caller, such as a user file that
// has become invalid. With null, as at the start, they write to standard error, as "millrace:
// <message>". Thread-safe; a line that is being written may still go to the previous sink.
void SetLogSink(LogSink sink);

void SendToLog(LogSeverity severity, std::string_view message);

}  // namespace millrace
