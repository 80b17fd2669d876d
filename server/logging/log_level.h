#pragma once

#include <cstdint>

namespace millrace {

enum class LogLevel : uint8_t { kTrace, kDebug, kInfo, kWarning, kError, kOff };
enum class LogFormat : uint8_t { kText, kJson };

}  // namespace millrace
