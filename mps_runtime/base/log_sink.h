#pragma once

#include <cstdint>
#include <string_view>

namespace millrace {

enum class LogSeverity : uint8_t { kWarning, kError };

// Takes a line without its end. Called on any thread; must not throw.
using LogSink = void (*)(LogSeverity severity, std::string_view message);

// Where models and the runtime say what no caller can be told, such as a file that changed for the
// worse. Null, as at the start: standard error, as "millrace: <message>". Thread-safe; a line that
// is under way may still go to the sink before.
void SetLogSink(LogSink sink);

void SendToLog(LogSeverity severity, std::string_view message);

}  // namespace millrace
